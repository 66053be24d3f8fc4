/** A node of a plan that ran, as PostgreSQL prints it in JSON. Row counts are means of the loops. */
export type PlanNode = {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  "Parent Relationship"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Index Recheck"?: number;
  "Rows Removed by Join Filter"?: number;
  "Shared Hit Blocks"?: number;
  "Shared Read Blocks"?: number;
  Plans?: PlanNode[];
};

export type StatementCost = {
  /** Rows of tables that any node read, whether it kept them or not. A look-up that finds nothing counts as one. */
  readRows: number;
  /** Rows that came with the statement as arrays or values. */
  givenRows: number;
  returnedRows: number;
  writtenRows: number;
  /** Pages read or written, of tables and indexes. */
  pages: number;
  /** The node that read the most rows. */
  node: string;
};

/**
 * The limits of a statement: a constant, and a multiple of the rows that are its work. A skewed history leaves tables
 * with a hundred deposits or settlements, which plans rightly read whole: up to 281 rows in the statement of the
 * checkout's states, and fewer in all others. A table that grows exceeds the constant at the size of the test.
 */
const ROWS_FREE = 300;
const ROWS_EACH = 20;
/** A row that is looked up touches four pages, a row that is written touches some in each index. */
const PAGES_FREE = 400;
const PAGES_EACH = 80;

/**
 * As many pages as a few look-ups of an index read. Without statistics the planner reads such a table whole, which
 * costs no more.
 */
const SMALL_TABLE_PAGES = 16;

export function readRowsMax(cost: StatementCost): number {
  return ROWS_EACH * workOf(cost) + ROWS_FREE;
}

/**
 * Whether a statement reads more than its work explains. Pages also show entries that an index scan skips without
 * counting them.
 */
export function isExcessive(cost: StatementCost): boolean {
  return cost.readRows > readRowsMax(cost) || cost.pages > PAGES_EACH * workOf(cost) + PAGES_FREE;
}

function workOf({ returnedRows, writtenRows, givenRows }: StatementCost): number {
  return Math.max(returnedRows, writtenRows, givenRows);
}

export function costOf(plan: PlanNode): StatementCost {
  const cost = {
    readRows: 0,
    givenRows: 0,
    returnedRows: rowsOf(plan),
    writtenRows: 0,
    pages: pagesOf(plan),
    node: "",
  };
  let mostRows = -1;
  const visit = (node: PlanNode) => {
    const rows = readRowsOf(node);
    cost.readRows += rows;
    if (rows > mostRows) [mostRows, cost.node] = [rows, nameOf(node)];
    if (isGiven(node)) cost.givenRows += rowsOf(node);
    if (node["Node Type"] === "ModifyTable") cost.writtenRows += writtenRowsOf(node);
    for (const child of node.Plans ?? []) visit(child);
  };
  visit(plan);
  return cost;
}

/** A bitmap's entries count where the index was read, and not again in the table. */
function readRowsOf(node: PlanNode): number {
  const loops = node["Actual Loops"];
  const recheck = (node["Rows Removed by Index Recheck"] ?? 0) * loops;
  const removed = (node["Rows Removed by Filter"] ?? 0) * loops;
  if (node["Rows Removed by Join Filter"] !== undefined) return node["Rows Removed by Join Filter"] * loops;
  if (node["Node Type"] === "Bitmap Index Scan") return Math.max(rowsOf(node), loops);
  if (node["Node Type"] === "Bitmap Heap Scan") return recheck;
  if (node["Relation Name"] === undefined || node["Node Type"] === "ModifyTable") return 0;
  // A table of few pages is rightly read whole, whatever its rows.
  if (node["Node Type"] === "Seq Scan" && pagesOf(node) <= SMALL_TABLE_PAGES * loops) return pagesOf(node);
  return Math.max(rowsOf(node) + removed + recheck, loops);
}

function isGiven({ "Node Type": type }: PlanNode): boolean {
  return type === "Function Scan" || type === "Values Scan";
}

function writtenRowsOf(node: PlanNode): number {
  const sources = (node.Plans ?? []).filter((child) => child["Parent Relationship"] === "Outer");
  return sources.reduce((sum, source) => sum + rowsOf(source), 0);
}

function rowsOf(node: PlanNode): number {
  return node["Actual Rows"] * node["Actual Loops"];
}

function pagesOf(node: PlanNode): number {
  return (node["Shared Hit Blocks"] ?? 0) + (node["Shared Read Blocks"] ?? 0);
}

function nameOf(node: PlanNode): string {
  const on = node["Index Name"] ?? node["Relation Name"];
  return on === undefined ? node["Node Type"] : `${node["Node Type"]} ${on}`;
}
