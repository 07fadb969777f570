import { table, text } from "./table.ts";

/** Facts about the store by name, such as the fingerprint of its secret. */
export const meta = table("meta", { name: text(), value: text() }, { primaryKey: ["name"] });
