import type { App } from "../../app.ts";
import { Defect } from "../../kernel/errors.ts";
import { UniqueViolation } from "../../platform/database/errors.ts";
import type { WriteContext } from "../../platform/database/database.ts";
import { passwordsOf, requireStrong } from "../auth/passwords.ts";
import { addUser } from "../members/members.ts";
import { userView, type UserView } from "../members/store.ts";
import { addOrganization } from "../organizations/organizations.ts";
import type { OrganizationRow } from "../organizations/store.ts";
import { alreadyInitialized, isInitialized } from "./installation.ts";

interface InitializeInput {
  readonly adminEmail: string;
  readonly adminName: string;
  readonly password: string;
  readonly organization: string;
}

export interface Installed {
  readonly organization: OrganizationRow;
  readonly user: UserView;
}

/**
 * First-time setup: creates the platform organization and its first admin, in one transaction. Throws 409
 * `already_initialized` if they exist.
 */
export async function initializeStore(
  app: App,
  context: WriteContext,
  input: InitializeInput,
): Promise<Installed> {
  await requireStrong(input.password, input.adminEmail);
  const passwordHash = await passwordsOf(app).hash(input.password);
  try {
    return await app.db.write(context, async (tx) => {
      if (await isInitialized(tx)) throw alreadyInitialized();
      const at = app.clock.now();
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
}
