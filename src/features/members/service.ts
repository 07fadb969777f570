import { Forbidden } from "../../api/declare/problems.ts";
import type { Role } from "../../api/declare/permissions.ts";
import type { Clock, Instant } from "../../kernel/clock.ts";
import { notFound } from "../../kernel/errors.ts";
import type { Id, IdSource } from "../../kernel/id.ts";
import { parsePage, toPage, type Page, type PageQuery } from "../../kernel/page.ts";
import { difference, type Journal } from "../../platform/journal/index.ts";
import type { Database, Tx, WriteContext } from "../../platform/database/database.ts";
import type { RowOf } from "../../platform/database/schema/table.ts";
import { AlreadyMember, EmailUnavailable, LastOwner } from "./errors.ts";
import { mayHandle } from "./rules.ts";
import { listMemberships, lockMembership, membershipView, type MembershipView } from "./store.ts";
import { memberships, users } from "./table.ts";

type MembershipRow = RowOf<typeof memberships>;

export interface NewUser {
  /** Set if the id was needed earlier; otherwise a new one is created. */
  readonly id?: Id<"user">;
  readonly email: string;
  readonly name: string;
  readonly passwordHash: string;
}

/** Changes to users and members inside other features' transactions. */
export interface Members {
  /** Adds a user; 409 `email_unavailable` if the address is taken. */
  addUser(tx: Tx, at: Instant, user: NewUser): Promise<RowOf<typeof users>>;
  /** Adds a user to an organization; 409 `already_member`. */
  addMembership(
    tx: Tx,
    at: Instant,
    membership: {
      readonly userId: Id<"user">;
      readonly organizationId: Id<"organization">;
      readonly role: Role;
    },
  ): Promise<Id<"membership">>;
}

export interface MemberService {
  list(organizationId: Id<"organization">, query: PageQuery): Promise<Page<MembershipView>>;
  /** Changes a member's role. Admins can change lower roles, owners all; 409 `last_owner`. */
  changeRole(
    context: WriteContext,
    organizationId: Id<"organization">,
    membershipId: Id<"membership">,
    changes: { readonly role: Role },
    expect: (current: MembershipView) => void,
  ): Promise<MembershipView>;
  /**
   * Removes a membership, including one's own; the user's next request to the organization gets 404. API keys that the
   * user created remain. 409 `last_owner`.
   */
  remove(
    context: WriteContext,
    organizationId: Id<"organization">,
    membershipId: Id<"membership">,
  ): Promise<void>;
}

export function makeMembers(deps: { ids: IdSource; journal: Journal }): Members {
  const { ids, journal } = deps;
  return {
    async addUser(tx, at, user) {
      const row = { ...user, id: user.id ?? ids.next("user", at), createdAt: at };
      if (!(await tx.insertIfAbsent(users, row))) {
        throw new EmailUnavailable(
          "This e-mail address already has an account. Log in, or use another address.",
        );
      }
      journal.record(tx, at, {
        action: "user.created",
        organizationId: null,
        subjectType: "user",
        subjectId: row.id,
        changes: { email: row.email, name: row.name },
      });
      return row;
    },

    async addMembership(tx, at, membership) {
      const row = { id: ids.next("membership", at), ...membership, createdAt: at };
      if (!(await tx.insertIfAbsent(memberships, row))) throw alreadyMember();
      journal.record(tx, at, {
        action: "member.added",
        organizationId: membership.organizationId,
        subjectType: "membership",
        subjectId: row.id,
        changes: { userId: membership.userId, role: membership.role },
      });
      return row.id;
    },
  };
}

export function makeMemberService(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly journal: Journal;
}): MemberService {
  const { db, clock, journal } = deps;
  return {
    async list(organizationId, query) {
      const page = parsePage(query, "members", { organizationId });
      return toPage(await listMemberships(db, organizationId, page), page);
    },

    changeRole(context, organizationId, membershipId, { role }, expect) {
      return db.write(context, async (tx) => {
        const { by, target, isLastOwner } = await lockForChange(tx, organizationId, membershipId);
        const current = await membershipView(tx, organizationId, membershipId);
        if (current === null) throw notFound();
        expect(current);
        requireHandling(by, target.role);
        requireHandling(by, role);
        if (role === target.role) return current;
        if (isLastOwner) throw lastOwner();
        const at = clock.now();
        await tx.update(memberships, { role }, "WHERE id = $1", [membershipId]);
        journal.record(tx, at, {
          action: "member.role_changed",
          organizationId,
          subjectType: "membership",
          subjectId: membershipId,
          changes: { userId: target.userId, ...difference({ role: target.role }, { role }) },
        });
        return { ...current, role };
      });
    },

    remove(context, organizationId, membershipId) {
      return db.write(context, async (tx) => {
        const { by, target, isLastOwner } = await lockForChange(tx, organizationId, membershipId);
        // Anyone who may manage members may also leave.
        if (target.userId !== tx.context.actor.id) requireHandling(by, target.role);
        if (isLastOwner) throw lastOwner();
        await tx.run("DELETE FROM memberships WHERE id = $1", [membershipId]);
        journal.record(tx, clock.now(), {
          action: "member.removed",
          organizationId,
          subjectType: "membership",
          subjectId: membershipId,
          changes: { userId: target.userId, role: target.role },
        });
      });
    },
  };
}

/**
 * Locks the membership to change, the owners and the actor's membership, in one order: if two owners demote each other,
 * the second finds itself demoted or the last owner.
 */
async function lockForChange(
  tx: Tx,
  organizationId: Id<"organization">,
  membershipId: Id<"membership">,
): Promise<{ by: Role; target: MembershipRow; isLastOwner: boolean }> {
  const { actor } = tx.context;
  const rows = await tx.lock(
    memberships,
    "WHERE organization_id = $1 AND (role = 'owner' OR id = $2 OR user_id = $3) ORDER BY id",
    [organizationId, membershipId, actor.type === "user" ? actor.id : ""],
  );
  const target = rows.find(({ id }) => id === membershipId);
  if (target === undefined) throw notFound();
  const own = rows.find(({ userId }) => userId === actor.id);
  const owners = rows.filter(({ role }) => role === "owner");
  return {
    by: roleOfActor(tx, own),
    target,
    isLastOwner: target.role === "owner" && owners.length === 1,
  };
}

/**
 * Returns the role with which the actor manages the organization's members; it cannot change until the transaction
 * ends.
 */
export async function handlingRole(tx: Tx, organizationId: Id<"organization">): Promise<Role> {
  const { actor } = tx.context;
  const own = actor.type === "user" ? await lockMembership(tx, organizationId, actor.id) : null;
  return roleOfActor(tx, own ?? undefined);
}

/** An API key acts as an admin, and the operator on the command line as an owner. */
function roleOfActor(tx: Tx, own: MembershipRow | undefined): Role {
  switch (tx.context.actor.type) {
    case "user":
      if (own === undefined) throw notFound();
      return own.role;
    case "api_key":
      return "admin";
    case "operator":
    case "system":
      return "owner";
  }
}

export function requireHandling(by: Role, role: Role): void {
  if (mayHandle(by, role)) return;
  throw new Forbidden(
    "Admins and API keys can manage only members and viewers; managing admins and owners requires an owner.",
  );
}

export function alreadyMember(): InstanceType<typeof AlreadyMember> {
  return new AlreadyMember("This user is already a member. Change their role instead.");
}

function lastOwner(): InstanceType<typeof LastOwner> {
  return new LastOwner("This is the only owner. Make another member an owner first.");
}
