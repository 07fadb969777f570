import type { Clock } from "../../kernel/clock.ts";
import { Defect, defineProblem } from "../../kernel/errors.ts";
import { UniqueViolation } from "../../platform/database/errors.ts";
import type { Database, Reader, WriteContext } from "../../platform/database/database.ts";
import { passwordsOf, requireStrong } from "../auth/passwords.ts";
import { userView, type UserView } from "../members/store.ts";
import { addUser } from "../members/members.ts";
import type { InTx } from "../../app.ts";
import { hasPlatformOrganization } from "../organizations/store.ts";
import type { OrganizationRow } from "../organizations/table.ts";
import { addOrganization } from "../organizations/organizations.ts";

const AlreadyInitialized = defineProblem({
  code: "already_initialized",
  status: 409,
  title: "The store is already initialized",
});

interface InstallationInput {
  readonly adminEmail: string;
  readonly adminName: string;
  readonly password: string;
  readonly organization: string;
}

export interface Installed {
  readonly organization: OrganizationRow;
  readonly user: UserView;
}

/** First-time setup: creates the platform organization and its first admin. */
export interface Installation {
  isInitialized(): Promise<boolean>;
  /** Creates both in one transaction. Throws 409 `already_initialized` if they exist. */
  initialize(context: WriteContext, input: InstallationInput): Promise<Installed>;
}

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

export function makeInstallation(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly app: InTx;
}): Installation {
  const { db, clock, app } = deps;
  return {
    isInitialized: () => isInitialized(db),

    async initialize(context, input) {
      await requireStrong(input.password, input.adminEmail);
      const passwordHash = await passwordsOf(app).hash(input.password);
      try {
        return await db.write(context, async (tx) => {
          if (await isInitialized(tx)) throw alreadyInitialized();
          const at = clock.now();
          const { id: ownerId } = await addUser(tx, app, at, {
            email: input.adminEmail,
            name: input.adminName,
            passwordHash,
          });
          const organization = await addOrganization(tx, app, at, {
            name: input.organization,
            ownerId,
            isPlatform: true,
          });
          const user = await userView(tx, ownerId);
          if (user === null) throw new Defect("the admin is not in the transaction that made them");
          return { organization, user };
        });
      } catch (error) {
        // Another process initialized the store concurrently (PostgreSQL).
        if (error instanceof UniqueViolation && error.index === "organizations_platform") {
          throw alreadyInitialized();
        }
        throw error;
      }
    },
  };
}
