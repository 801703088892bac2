// The page in headless Chromium: browser.mjs PROGRAM EXAMPLE_REPORT SCREENSHOTS [PART OF A TEST'S NAME].
// Exit 77: no Chromium, skipped.
import { rmSync } from "node:fs";
import "./report_tests.mjs";
import { browser, folder, tests } from "./support.mjs";
import "./view_tests.mjs";

let failures = 0;
const only = process.argv[5];
for (const [name, run] of tests) {
  if (only && !name.includes(only)) continue;
  try {
    await run();
    console.log(`ok    ${name}`);
  } catch (error) {
    ++failures;
    console.log(`FAIL  ${name}\n${error instanceof Error ? error.stack : error}`);
  }
}
await browser.close();
rmSync(folder, { recursive: true, force: true });
process.exit(failures > 0 ? 1 : 0);
