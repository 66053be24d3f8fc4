import { parseArgs } from "node:util";
import { startOwnServer } from "../support/database.ts";
import { isExempt } from "./exemptStatements.ts";
import { ALL_SETTINGS, formatOffenders, formatSetting, listOffenders, measureCourses } from "./measureCourses.ts";

// The test of history.test.ts with any number of movements: `node test/cost/main.ts --movements 1000000`, in every
// setting or those whose name contains `--only`.

const { values } = parseArgs({
  options: { movements: { type: "string", default: "30000" }, only: { type: "string", default: "" } },
});
const server = await startOwnServer();
try {
  for (const setting of ALL_SETTINGS.filter((each) => formatSetting(each).includes(values.only))) {
    const measured = await measureCourses(server, Number(values.movements), setting);
    const offenders = listOffenders(measured);
    const unknown = offenders.filter((offender) => !isExempt(offender));
    console.log(`${measured.size} statements after ${values.movements} movements (${formatSetting(setting)})`);
    for (const { text, cost } of offenders.filter(isExempt))
      console.log(`  exempt: ${cost.readRows} rows, ${cost.pages} pages, ${cost.node}\n    ${text.slice(0, 120)}`);
    if (unknown.length === 0) continue;
    console.log(`\n${unknown.length} of them must read less:\n${formatOffenders(unknown)}`);
    process.exitCode = 1;
  }
} finally {
  await server.remove();
}
