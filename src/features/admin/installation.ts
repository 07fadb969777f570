import { defineProblem } from "../../kernel/errors.ts";
import type { Reader } from "../../platform/database/database.ts";
import { hasPlatformOrganization } from "../organizations/store.ts";

const AlreadyInitialized = defineProblem({
  code: "already_initialized",
  status: 409,
  title: "The store is already initialized",
});

/** Whether the platform organization exists, in a store of any schema version. */
export function isInitialized(reader: Reader): Promise<boolean> {
  return hasPlatformOrganization(reader);
}

/** Returns the error for an initialized store; `found` lists what exists, one a line. */
export function alreadyInitialized(found = ""): Error {
  const list = found === "" ? "" : `\n${found}`;
  return new AlreadyInitialized(
    `The store already has its platform organization and admin; nothing was changed. Start the server with till serve, or choose another folder with --data-dir.${list}`,
  );
}
