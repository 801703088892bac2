// Turns the built page into C++: embed.mjs PAGE.html OUT.cpp. Checks what the program relies on.
import { readFileSync, writeFileSync } from "node:fs";

const [page, out] = process.argv.slice(2);
const bytes = readFileSync(page);
const text = bytes.toString("utf8");

const limit = 1.5e6;
const markers = text.split("@ARTICULA_DATA@").length - 1;
const problems = [
  bytes.length >= limit && `the page has ${bytes.length} bytes; its limit is ${limit}`,
  markers !== 1 && `the page has ${markers} places for data; expected one`,
  /<(script|link|img)[^>]+(src|href)=["']?(https?:|\/|\.)/i.test(text) && "the page refers to another file",
].filter(Boolean);
if (problems.length > 0) {
  console.error(problems.join("\n"));
  process.exit(1);
}

// String literals, for these compile at once; octal escapes, for these end after three digits.
const escape = (/** @type {Uint8Array} */ chunk) =>
  Array.from(chunk, (b) =>
    b === 0x22 || b === 0x5c || b === 0x3f || b < 0x20 || b > 0x7e
      ? "\\" + b.toString(8).padStart(3, "0")
      : String.fromCharCode(b),
  ).join("");
const lines = [];
for (let at = 0; at < bytes.length; at += 4096) lines.push(`"${escape(bytes.subarray(at, at + 4096))}"`);
writeFileSync(
  out,
  `// Made from web/ by web/tools/embed.mjs.
#include "articula/report/page.hpp"

namespace articula {
namespace {
constexpr char text[] =
${lines.join("\n")};
}  // namespace
std::string_view page_template() { return {text, sizeof text - 1}; }
}  // namespace articula
`,
);
