"""Sphinx settings of `make site` (tools/site.sh puts the pages together)."""
project = "Articula"
author = "the Articula authors"
extensions = ["myst_parser", "sphinx_copybutton"]
root_doc = "index"
language = "en"
html_theme = "furo"
html_title = "Articula"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
suppress_warnings = ["misc.highlighting_failure"]  # .. stands for what is left out, in any language
myst_heading_anchors = 4
smartquotes = False  # y' is a derivative
highlight_language = "text"  # blocks without a language are commands and formulas
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
copybutton_exclude = ".linenos, .gp, .go"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1a5e8a", "color-brand-content": "#1a5e8a",
                            "color-foreground-muted": "#5a5f66", "color-foreground-border": "#5a5f66",
                            "color-code-background": "#f4f6f8"},
    "dark_css_variables": {"color-brand-primary": "#7cc4f2", "color-brand-content": "#7cc4f2",
                           "color-foreground-muted": "#a5abb3", "color-foreground-border": "#a5abb3",
                           "color-code-background": "#1f2226"},
    "navigation_with_keys": True,
    "footer_icons": [],
}
