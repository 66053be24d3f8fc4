/** Writes docs/operate/alarms.md from the table of alarms: node scripts/alarms.ts. A test compares the two. */
import { writeFileSync } from "node:fs";
import { renderAlarms } from "../test/docs/renderAlarms.ts";

writeFileSync(new URL("../docs/operate/alarms.md", import.meta.url), renderAlarms());
