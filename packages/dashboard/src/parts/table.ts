import { h, type Child, type VElement } from "@tributary/checkout/vnode";

export type Column = { readonly label: string; readonly isNumber?: boolean };
export type Row = { readonly id?: string; readonly cells: readonly Child[] };

/**
 * A table whose rows become cards where it is narrow. It writes out its roles, because a changed `display` drops them.
 * The first column names the row.
 */
export function table(caption: string, columns: readonly Column[], rows: readonly Row[]): VElement {
  const header = columns.map(({ label, isNumber }) =>
    h("th", { role: "columnheader", scope: "col", class: isNumber === true ? "num" : undefined }, label),
  );
  const toCell = (child: Child, index: number) => {
    const { label, isNumber } = columns[index] ?? { label: "" };
    const attributes = {
      role: "cell",
      class: isNumber === true ? "num" : undefined,
      "data-l": index === 0 ? undefined : label,
    };
    // A card's label and its value stand side by side, so the value is one element.
    return h("td", attributes, index === 0 ? child : h("div", {}, child));
  };
  return h(
    "table",
    { class: "tbl cards dense", role: "table" },
    h("caption.vh", {}, caption),
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, header)),
    h(
      "tbody",
      { role: "rowgroup" },
      rows.map(({ id, cells }) => h("tr", { role: "row", id }, cells.map(toCell))),
    ),
  );
}

/** The same with higher rows, for tables that a reader scans. */
export function wideTable(caption: string, columns: readonly Column[], rows: readonly Row[]): VElement {
  const { children, attributes, tag } = table(caption, columns, rows);
  return { tag, children, attributes: { ...attributes, class: "tbl cards" } };
}
