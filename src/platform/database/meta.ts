import { table, text } from "./table.ts";

/** Facts about the store itself by name, such as the fingerprint of the secret that it was made with. */
export const meta = table("meta", { name: text(), value: text() }, { primaryKey: ["name"] });
