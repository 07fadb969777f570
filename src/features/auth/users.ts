import type { App } from "../../app.ts";
import type { Role } from "../../http/declare/permissions.ts";
import { assert } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { parsePage, toPage, type Page, type PageQuery } from "../../kernel/page.ts";
import type { WriteContext } from "../../platform/database/database.ts";
import { addMembership, addUser } from "../members/members.ts";
import { findUsers, userView, type UserView } from "../members/store.ts";
import { lockOrganization } from "../organizations/store.ts";
import { passwordsOf, requireStrong } from "./passwords.ts";

// Account management for the operator, independent of the registration setting.

/** Returns a page of all users, newest first. */
export async function listUsers(app: App, query: PageQuery): Promise<Page<UserView>> {
  const page = parsePage(query, "users");
  return toPage(await findUsers(app.db, page), page);
}

/** Creates an account and optionally a membership; 409 if the e-mail address is taken. */
export async function createUser(
  app: App,
  context: WriteContext,
  {
    email,
    name,
    password,
    membership,
  }: {
    readonly email: string;
    readonly name: string;
    readonly password: string;
    readonly membership: {
      readonly organizationId: Id<"organization">;
      readonly role: Role;
    } | null;
  },
): Promise<UserView> {
  await requireStrong(password, email);
  const passwordHash = await passwordsOf(app).hash(password);
  return app.db.write(context, async (tx) => {
    const at = app.clock.now();
    const { id: userId } = await addUser(tx, app, at, { email, name, passwordHash });
    if (membership !== null) {
      await lockOrganization(tx, membership.organizationId);
      await addMembership(tx, app, at, { userId, ...membership });
    }
    const user = await userView(tx, userId);
    assert(user !== null, "a user is not in the transaction that made them");
    return user;
  });
}
