import type { CsvColumns } from "../declare/csv.ts";

/** Describes the content of a CSV response. Its schema is that of the whole text, whose description has the columns. */
export function csvContent(columns: CsvColumns) {
  const described = Object.entries(columns).map(([name, text]) => `- \`${name}\`: ${text}`);
  const description = `CSV (RFC 4180) in UTF-8, with the columns:\n\n${described.join("\n")}`;
  const example = `${Object.keys(columns).join(",")}\r\n`;
  return { "text/csv": { schema: { type: "string", description }, example } };
}
