/** Writes src/db/schema.sql from a migrated database: `npm run schema`. */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { systemClock } from "../src/kernel/clock.ts";
import { openDatabase } from "../src/db/database.ts";
import { migrate } from "../src/db/migrate.ts";
import { readCodebase } from "../test/architecture/codebase.ts";
import { renderSchema } from "../test/schema/renderSchema.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const db = await openDatabase({ directory: "memory" });
await migrate(db, { appliedAt: systemClock.now() });
writeFileSync(`${root}/src/db/schema.sql`, await renderSchema(db, readCodebase(root)));
await db.close();
