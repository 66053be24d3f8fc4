import { parseArgs } from "node:util";
import { startOwnServer } from "../support/database.ts";
import { isExempt } from "./exemptStatements.ts";
import { formatOffenders, listOffenders, measureCourses } from "./measureCourses.ts";

// The test of history.test.ts with any number of movements: `node test/cost/main.ts --movements 1000000`.

const { values } = parseArgs({ options: { movements: { type: "string", default: "30000" } } });
const server = await startOwnServer();
try {
  const measured = await measureCourses(server, Number(values.movements));
  const offenders = listOffenders(measured);
  const unknown = offenders.filter((offender) => !isExempt(offender));
  console.log(`${measured.size} statements after ${values.movements} movements`);
  if (offenders.length > 0) console.log(formatOffenders(offenders));
  if (unknown.length > 0) {
    console.log(`\n${unknown.length} of them must read less:\n${formatOffenders(unknown)}`);
    process.exitCode = 1;
  }
} finally {
  await server.remove();
}
