import type { App, InTx } from "../../app.ts";
import type { Principal } from "../../http/declare/permissions.ts";
import { OrganizationSuspended } from "../../http/declare/problems.ts";
import { day, toIso, type Instant } from "../../kernel/clock.ts";
import { Defect, defineProblem, notFound } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { mapPage, parsePage, toPage, type Page, type PageQuery } from "../../kernel/page.ts";
import type { Database, Reader, Tx, WriteContext } from "../../platform/database/database.ts";
import { listed } from "../../platform/database/query/json-rows.ts";
import { holdLock } from "../../platform/database/write/locks.ts";
import { hashToken, newToken, parseToken } from "../../platform/secrets/tokens.ts";
import {
  addMembership,
  alreadyMember,
  handlingRole,
  requireHandling,
  UserNeeded,
} from "./members.ts";
import {
  invitationStatus,
  invitationViewAt,
  mayHandle,
  type AcceptInvitationInput,
  type CreateInvitationInput,
  type InvitationView,
} from "./records.ts";
import {
  findInvitations,
  invitations,
  isSuspended,
  lockMembership,
  memberships,
  membershipView,
  userByEmail,
  type InvitationRow,
  type MembershipView,
} from "./store.ts";

export const InvalidInvitation = defineProblem({
  code: "invalid_invitation",
  status: 422,
  title: "The invitation is not valid",
  remedy:
    "Ask an admin of the organization for a new invitation: this one is unknown, expired, revoked, used, or for another address.",
});
export const InvitationAccepted = defineProblem({
  code: "invitation_accepted",
  status: 409,
  title: "The invitation was already accepted",
  remedy: "Remove the member instead: the invitation was already used.",
});

/** How long an invitation is valid. */
const invitationLife = 7 * day;
/** How long an expired invitation stays in lists, so that the inviter sees its outcome. */
export const invitationKeptFor = 30 * day;
/** Maximum number of rows deleted in one transaction. */
const pruneBatch = 1_000;

interface CreatedInvitation {
  readonly invitation: InvitationView;
  /** The token, returned only once. */
  readonly token: string;
}

/** Returns a page of an organization's invitations, newest first. */
export async function listInvitations(
  app: App,
  organizationId: Id<"organization">,
  query: PageQuery,
): Promise<Page<InvitationView>> {
  const page = parsePage(query, "invitations", { organizationId });
  const rows = await findInvitations(app.db, organizationId, page);
  const at = app.clock.now();
  return mapPage(toPage(rows, page), (row) => invitationViewAt(row, at));
}

/**
 * Invites an e-mail address to a role, and revokes earlier pending invitations to it. Admins can invite lower roles,
 * owners all. 409 `already_member`.
 */
export function createInvitation(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  { email, role }: CreateInvitationInput,
): Promise<CreatedInvitation> {
  const { db, clock, ids, journal } = app;
  const token = newToken("invitation", app.randomBytes);
  return db.write(context, async (tx) => {
    const at = clock.now();
    requireHandling(await handlingRole(tx, organizationId), role);
    await lockAddress(tx, organizationId, email);
    await requireStranger(tx, organizationId, email);
    const earlier = await tx.lock(
      invitations,
      "WHERE organization_id = $1 AND email = $2 AND accepted_at IS NULL AND revoked_at IS NULL ORDER BY id",
      [organizationId, email],
    );
    for (const invitation of earlier) await endInvitation(tx, app, at, invitation);
    const { actor } = context;
    const row: InvitationRow = {
      id: ids.next("invitation", at),
      organizationId,
      email,
      role,
      tokenHash: hashToken(token),
      invitedBy: actor.type === "user" ? actor.id : null,
      createdAt: at,
      expiresAt: at + invitationLife,
      acceptedAt: null,
      revokedAt: null,
    };
    await tx.insert(invitations, row);
    journal.record(tx, at, {
      action: "invitation.created",
      organizationId,
      subjectType: "invitation",
      subjectId: row.id,
      changes: { email, role, expiresAt: toIso(row.expiresAt) },
    });
    return { invitation: invitationViewAt(row, at), token };
  });
}

/** Revokes an invitation; revoking again has no effect. An accepted one is a 409. */
export function revokeInvitation(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  invitationId: Id<"invitation">,
): Promise<InvitationView> {
  const { db, clock } = app;
  return db.write(context, async (tx) => {
    const at = clock.now();
    const by = await handlingRole(tx, organizationId);
    const invitation = await tx.lockOne(invitations, "WHERE organization_id = $1 AND id = $2", [
      organizationId,
      invitationId,
    ]);
    if (invitation === null) throw notFound();
    requireHandling(by, invitation.role);
    if (invitation.acceptedAt !== null) {
      throw new InvitationAccepted("The invitation was accepted. Remove the member instead.");
    }
    return invitation.revokedAt === null
      ? endInvitation(tx, app, at, invitation)
      : invitationViewAt(invitation, at);
  });
}

/** Makes the calling user a member. @throws InvalidInvitation, AlreadyMember, UserNeeded */
export async function acceptInvitation(
  app: App,
  context: WriteContext,
  actor: Principal,
  { invitationToken }: AcceptInvitationInput,
): Promise<MembershipView> {
  const { db, clock } = app;
  if (actor.type !== "user") {
    throw new UserNeeded("An API key cannot join an organization. Log in as the invited user.");
  }
  await requireInvitation(db, clock.now(), invitationToken, actor.label);
  return db.write(context, async (tx) => {
    const user = { id: actor.id, email: actor.label };
    const joined = await redeemInvitation(tx, app, clock.now(), invitationToken, user);
    const view = await membershipView(tx, joined.organizationId, joined.membershipId);
    if (view === null) throw new Defect("a membership vanished in its own transaction");
    return view;
  });
}

/** Throws early, before expensive work, what `redeemInvitation` would throw. */
export async function requireInvitation(
  reader: Reader,
  at: Instant,
  token: string,
  email: string,
): Promise<void> {
  if (parseToken(token, "invitation") === null) throw invalidInvitation();
  requirePending(await findByToken(reader, token), at, email);
}

/** Redeems the token and makes the user a member. @throws InvalidInvitation, AlreadyMember */
export async function redeemInvitation(
  tx: Tx,
  app: InTx,
  at: Instant,
  token: string,
  user: { readonly id: Id<"user">; readonly email: string },
): Promise<{
  readonly organizationId: Id<"organization">;
  readonly membershipId: Id<"membership">;
}> {
  // Lock order: the inviter's membership, the address, the invitation, as in creation and revocation.
  const offered = requirePending(await findByToken(tx, token), at, user.email);
  await requireInviter(tx, offered);
  await lockAddress(tx, offered.organizationId, offered.email);
  const locked = await tx.lockOne(invitations, "WHERE id = $1", [offered.id]);
  const invitation = requirePending(locked, at, user.email);
  const { organizationId, role } = invitation;
  if (await isSuspended(tx, organizationId)) {
    throw new OrganizationSuspended("The platform has suspended this organization.");
  }
  await tx.update(invitations, { acceptedAt: at }, "WHERE id = $1", [invitation.id]);
  app.journal.record(tx, at, {
    action: "invitation.accepted",
    organizationId,
    subjectType: "invitation",
    subjectId: invitation.id,
    changes: { userId: user.id },
  });
  const added = { userId: user.id, organizationId, role };
  return { organizationId, membershipId: await addMembership(tx, app, at, added) };
}

/**
 * Deletes one batch of long-expired invitations; returns whether there may be more. The audit log keeps their history.
 */
export async function pruneInvitations(
  db: Database,
  now: Instant,
  context: WriteContext,
): Promise<boolean> {
  const past = await db.all<{ id: string }>(
    `SELECT id AS "id" FROM invitations
     WHERE expires_at <= $1 ORDER BY expires_at LIMIT ${String(pruneBatch)}`,
    [now - invitationKeptFor],
  );
  if (past.length === 0) return false;
  await db.write(context, (tx) =>
    tx.run(`DELETE FROM invitations WHERE id IN ${listed(tx.dialect, 1)}`, [
      JSON.stringify(past.map(({ id }) => id)),
    ]),
  );
  return past.length === pruneBatch;
}

async function endInvitation(
  tx: Tx,
  app: InTx,
  at: Instant,
  invitation: InvitationRow,
): Promise<InvitationView> {
  await tx.update(invitations, { revokedAt: at }, "WHERE id = $1", [invitation.id]);
  app.journal.record(tx, at, {
    action: "invitation.revoked",
    organizationId: invitation.organizationId,
    subjectType: "invitation",
    subjectId: invitation.id,
    changes: { email: invitation.email, role: invitation.role },
  });
  return invitationViewAt({ ...invitation, revokedAt: at }, at);
}

/**
 * Makes the changes of an organization's invitations to an address take turns. API keys and the operator have no
 * membership to lock, and an invitation that is being created cannot be found.
 */
function lockAddress(tx: Tx, organizationId: Id<"organization">, email: string): Promise<void> {
  return holdLock(tx, `invitation ${organizationId} ${email}`);
}

async function requireStranger(
  tx: Tx,
  organizationId: Id<"organization">,
  email: string,
): Promise<void> {
  const user = await userByEmail(tx, email);
  if (user === null) return;
  const member = await tx.findOne(memberships, "WHERE user_id = $1 AND organization_id = $2", [
    user.id,
    organizationId,
  ]);
  if (member !== null) throw alreadyMember();
}

async function findByToken(reader: Reader, token: string): Promise<InvitationRow | null> {
  return reader.findOne(invitations, "WHERE token_hash = $1", [hashToken(token)]);
}

/**
 * Refuses an invitation whose inviter may no longer grant the role; otherwise a removed member could return by their
 * own invitation.
 */
async function requireInviter(tx: Tx, invitation: InvitationRow): Promise<void> {
  const { organizationId, role, invitedBy } = invitation;
  if (invitedBy === null) return;
  const inviter = await lockMembership(tx, organizationId, invitedBy);
  if (inviter === null || !mayHandle(inviter.role, role)) throw invalidInvitation();
}

function requirePending(
  invitation: InvitationRow | null,
  at: Instant,
  email: string,
): InvitationRow {
  if (invitation !== null && invitation.email === email) {
    if (invitationStatus(invitation, at) === "pending") return invitation;
  }
  throw invalidInvitation();
}

/** Returns the same message for every reason, so that the holder of a token learns nothing. */
function invalidInvitation(): InstanceType<typeof InvalidInvitation> {
  const message = "is unknown, used, revoked or expired, or was issued for another e-mail address";
  return new InvalidInvitation(`The invitation ${message}. Ask for a new one.`, {
    errors: [{ pointer: "/invitationToken", code: "invalid", message }],
  });
}
