import type { Role } from "../../api/declare/permissions.ts";
import type { Clock } from "../../kernel/clock.ts";
import { assert } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { parsePage, toPage, type Page, type PageQuery } from "../../kernel/page.ts";
import type { Database, WriteContext } from "../../platform/database/database.ts";
import type { Passwords } from "../../platform/secrets/passwords.ts";
import { findUsers, userView, type UserView } from "../members/store.ts";
import { addMembership, addUser } from "../members/members.ts";
import type { InTx } from "../../app.ts";
import { lockOrganization } from "../organizations/store.ts";
import { requireStrong } from "./passwords.ts";

/** Account management for the operator, independent of the registration setting. */
export interface UserService {
  /** Returns a page of all users, newest first. */
  list(query: PageQuery): Promise<Page<UserView>>;
  /** Creates an account and optionally a membership; 409 if the e-mail address is taken. */
  create(
    context: WriteContext,
    input: {
      readonly email: string;
      readonly name: string;
      readonly password: string;
      readonly membership: {
        readonly organizationId: Id<"organization">;
        readonly role: Role;
      } | null;
    },
  ): Promise<UserView>;
}

export function makeUserService(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly passwords: Passwords;
  readonly app: InTx;
}): UserService {
  const { db, clock, passwords, app } = deps;
  return {
    async list(query) {
      const page = parsePage(query, "users");
      return toPage(await findUsers(db, page), page);
    },

    async create(context, { email, name, password, membership }) {
      await requireStrong(passwords, password, email);
      const passwordHash = await passwords.hash(password);
      return db.write(context, async (tx) => {
        const at = clock.now();
        const { id: userId } = await addUser(tx, app, at, { email, name, passwordHash });
        if (membership !== null) {
          await lockOrganization(tx, membership.organizationId);
          await addMembership(tx, app, at, { userId, ...membership });
        }
        const user = await userView(tx, userId);
        assert(user !== null, "a user is not in the transaction that made them");
        return user;
      });
    },
  };
}
