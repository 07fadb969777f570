import type { App, InTx } from "../../app.ts";
import { Forbidden } from "../../http/declare/problems.ts";
import type { Role } from "../../http/declare/permissions.ts";
import type { Instant } from "../../kernel/clock.ts";
import { defineProblem, notFound } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { parsePage, toPage, type Page, type PageQuery } from "../../kernel/page.ts";
import { difference } from "../../platform/journal.ts";
import type { Tx, WriteContext } from "../../platform/database/database.ts";
import type { RowOf } from "../../platform/database/schema/table.ts";
import { mayHandle, type UpdateMembershipInput } from "./records.ts";
import {
  findMemberships,
  lockMembership,
  memberships,
  membershipView,
  users,
  type MembershipView,
} from "./store.ts";

export const AlreadyMember = defineProblem({
  code: "already_member",
  status: 409,
  title: "The user is already a member",
  remedy:
    "Nothing to do: the user is in the organization. Change the role with `updateMember` if another one was meant.",
});
export const EmailUnavailable = defineProblem({
  code: "email_unavailable",
  status: 409,
  title: "The e-mail address already has an account",
  remedy:
    "Log in with this address instead, or reset its password. A user with an account joins by accepting an invitation.",
});
export const LastOwner = defineProblem({
  code: "last_owner",
  status: 409,
  title: "An organization needs an owner",
  remedy: "Make another member an owner first.",
});
export const UserNeeded = defineProblem({
  code: "user_needed",
  status: 403,
  title: "Only a user may do this",
  remedy: "Log in as a user: an API key cannot do this.",
});

type MembershipRow = RowOf<typeof memberships>;

interface NewUser {
  /** Set if the id was needed earlier; otherwise a new one is created. */
  readonly id?: Id<"user">;
  readonly email: string;
  readonly name: string;
  readonly passwordHash: string;
}

/** Returns a page of an organization's members, newest first. */
export async function listMembers(
  app: App,
  organizationId: Id<"organization">,
  query: PageQuery,
): Promise<Page<MembershipView>> {
  const page = parsePage(query, "members", { organizationId });
  return toPage(await findMemberships(app.db, organizationId, page), page);
}

/** Changes a member's role. Admins can change lower roles, owners all; 409 `last_owner`. */
export function changeMemberRole(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  membershipId: Id<"membership">,
  { role }: UpdateMembershipInput,
  expect: (current: MembershipView) => void,
): Promise<MembershipView> {
  return app.db.write(context, async (tx) => {
    const { by, target, isLastOwner } = await lockForChange(tx, organizationId, membershipId);
    const current = await membershipView(tx, organizationId, membershipId);
    if (current === null) throw notFound();
    expect(current);
    requireHandling(by, target.role);
    requireHandling(by, role);
    if (role === target.role) return current;
    if (isLastOwner) throw lastOwner();
    await tx.update(memberships, { role }, "WHERE id = $1", [membershipId]);
    app.journal.record(tx, app.clock.now(), {
      action: "member.role_changed",
      organizationId,
      subjectType: "membership",
      subjectId: membershipId,
      changes: { userId: target.userId, ...difference({ role: target.role }, { role }) },
    });
    return { ...current, role };
  });
}

/**
 * Removes a membership, including one's own; the user's next request to the organization gets 404. API keys that the
 * user created remain. 409 `last_owner`.
 */
export function removeMember(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  membershipId: Id<"membership">,
): Promise<void> {
  return app.db.write(context, async (tx) => {
    const { by, target, isLastOwner } = await lockForChange(tx, organizationId, membershipId);
    // Anyone who may manage members may also leave.
    if (target.userId !== tx.context.actor.id) requireHandling(by, target.role);
    if (isLastOwner) throw lastOwner();
    await tx.run("DELETE FROM memberships WHERE id = $1", [membershipId]);
    app.journal.record(tx, app.clock.now(), {
      action: "member.removed",
      organizationId,
      subjectType: "membership",
      subjectId: membershipId,
      changes: { userId: target.userId, role: target.role },
    });
  });
}

/** Adds a user; 409 `email_unavailable` if the address is taken. */
export async function addUser(
  tx: Tx,
  app: InTx,
  at: Instant,
  user: NewUser,
): Promise<RowOf<typeof users>> {
  const row = { ...user, id: user.id ?? app.ids.next("user", at), createdAt: at };
  if (!(await tx.insertIfAbsent(users, row))) {
    throw new EmailUnavailable(
      "This e-mail address already has an account. Log in, or use another address.",
    );
  }
  app.journal.record(tx, at, {
    action: "user.created",
    organizationId: null,
    subjectType: "user",
    subjectId: row.id,
    changes: { email: row.email, name: row.name },
  });
  return row;
}

/** Adds a user to an organization; 409 `already_member`. */
export async function addMembership(
  tx: Tx,
  app: InTx,
  at: Instant,
  membership: {
    readonly userId: Id<"user">;
    readonly organizationId: Id<"organization">;
    readonly role: Role;
  },
): Promise<Id<"membership">> {
  const row = { id: app.ids.next("membership", at), ...membership, createdAt: at };
  if (!(await tx.insertIfAbsent(memberships, row))) throw alreadyMember();
  app.journal.record(tx, at, {
    action: "member.added",
    organizationId: membership.organizationId,
    subjectType: "membership",
    subjectId: row.id,
    changes: { userId: membership.userId, role: membership.role },
  });
  return row.id;
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
