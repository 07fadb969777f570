import { bind, type Bound } from "../../kernel/bind.ts";
import type { Principal } from "../../api/declare/access.ts";
import type { Role } from "../../api/declare/permissions.ts";
import { OrganizationSuspended } from "../../api/declare/problems.ts";
import { day, toIso, type Clock, type Instant } from "../../kernel/clock.ts";
import { Defect, notFound } from "../../kernel/errors.ts";
import type { Id, IdSource, RandomBytes } from "../../kernel/id.ts";
import { mapPage, parsePage, toPage, type Page, type PageQuery } from "../../kernel/page.ts";
import type { Journal } from "../../platform/journal/index.ts";
import type { Database, Reader, Tx, WriteContext } from "../../platform/database/database.ts";
import { holdLock } from "../../platform/database/write/locks.ts";
import { hashToken, newToken, parseToken } from "../../platform/secrets/tokens.ts";
import { InvalidInvitation, InvitationAccepted, UserNeeded } from "./errors.ts";
import { invitationStatus, mayHandle, type InvitationStatus } from "./rules.ts";
import { alreadyMember, handlingRole, requireHandling, type Members } from "./service.ts";
import {
  isSuspended,
  listInvitations,
  lockMembership,
  membershipView,
  userByEmail,
  type MembershipView,
} from "./store.ts";
import { invitations, memberships, type InvitationRow } from "./table.ts";

/** How long an invitation is valid. */
export const invitationLife = 7 * day;

export interface InvitationView extends InvitationRow {
  /** Status at the time of reading. */
  readonly status: InvitationStatus;
}

export interface CreatedInvitation {
  readonly invitation: InvitationView;
  /** The token, returned only once. */
  readonly token: string;
}

export type InvitationService = Bound<typeof methods>;

/** Use of invitations during registration. */
export interface Invitations {
  /** Throws early, before expensive work, what `redeem` would throw. */
  require(reader: Reader, at: Instant, token: string, email: string): Promise<void>;
  /** Redeems the token and makes the user a member. @throws InvalidInvitation, AlreadyMember */
  redeem(
    tx: Tx,
    at: Instant,
    token: string,
    user: { readonly id: Id<"user">; readonly email: string },
  ): Promise<{
    readonly organizationId: Id<"organization">;
    readonly membershipId: Id<"membership">;
  }>;
}

export interface InvitationDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly randomBytes: RandomBytes;
  readonly journal: Journal;
  readonly members: Members;
}

export function makeInvitations(
  deps: Pick<InvitationDependencies, "journal" | "members">,
): Invitations {
  return {
    async require(reader, at, token, email) {
      if (parseToken(token, "invitation") === null) throw invalidInvitation();
      requirePending(await findByToken(reader, token), at, email);
    },

    async redeem(tx, at, token, user) {
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
      deps.journal.record(tx, at, {
        action: "invitation.accepted",
        organizationId,
        subjectType: "invitation",
        subjectId: invitation.id,
        changes: { userId: user.id },
      });
      const membershipId = await deps.members.addMembership(tx, at, {
        userId: user.id,
        organizationId,
        role,
      });
      return { organizationId, membershipId };
    },
  };
}

type Deps = InvitationDependencies & { readonly invitations: Invitations };

const methods = { list, create, revoke, accept };

export function makeInvitationService(deps: Deps): InvitationService {
  return bind(deps, methods);
}

async function list(
  { db, clock }: Deps,
  organizationId: Id<"organization">,
  query: PageQuery,
): Promise<Page<InvitationView>> {
  const page = parsePage(query, "invitations", { organizationId });
  const rows = await listInvitations(db, organizationId, page);
  const at = clock.now();
  return mapPage(toPage(rows, page), (row) => viewAt(row, at));
}

/**
 * Invites an e-mail address to a role, and revokes earlier pending invitations to it. Admins can invite lower roles,
 * owners all. 409 `already_member`.
 */
function create(
  deps: Deps,
  context: WriteContext,
  organizationId: Id<"organization">,
  { email, role }: { readonly email: string; readonly role: Role },
): Promise<CreatedInvitation> {
  const { db, clock, ids, journal } = deps;
  const token = newToken("invitation", deps.randomBytes);
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
    for (const invitation of earlier) await end(deps, tx, at, invitation);
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
    return { invitation: viewAt(row, at), token };
  });
}

/** Revokes an invitation; revoking again has no effect. An accepted one is a 409. */
function revoke(
  deps: Deps,
  context: WriteContext,
  organizationId: Id<"organization">,
  invitationId: Id<"invitation">,
): Promise<InvitationView> {
  const { db, clock } = deps;
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
    return invitation.revokedAt === null ? end(deps, tx, at, invitation) : viewAt(invitation, at);
  });
}

/** Makes the calling user a member. @throws InvalidInvitation, AlreadyMember, UserNeeded */
async function accept(
  deps: Deps,
  context: WriteContext,
  actor: Principal,
  { invitationToken }: { readonly invitationToken: string },
): Promise<MembershipView> {
  const { db, clock } = deps;
  if (actor.type !== "user") {
    throw new UserNeeded("An API key cannot join an organization. Log in as the invited user.");
  }
  await deps.invitations.require(db, clock.now(), invitationToken, actor.label);
  return db.write(context, async (tx) => {
    const user = { id: actor.id, email: actor.label };
    const joined = await deps.invitations.redeem(tx, clock.now(), invitationToken, user);
    const view = await membershipView(tx, joined.organizationId, joined.membershipId);
    if (view === null) throw new Defect("a membership vanished in its own transaction");
    return view;
  });
}

async function end(
  { journal }: Deps,
  tx: Tx,
  at: Instant,
  invitation: InvitationRow,
): Promise<InvitationView> {
  await tx.update(invitations, { revokedAt: at }, "WHERE id = $1", [invitation.id]);
  journal.record(tx, at, {
    action: "invitation.revoked",
    organizationId: invitation.organizationId,
    subjectType: "invitation",
    subjectId: invitation.id,
    changes: { email: invitation.email, role: invitation.role },
  });
  return viewAt({ ...invitation, revokedAt: at }, at);
}

function viewAt(row: InvitationRow, at: Instant): InvitationView {
  return { ...row, status: invitationStatus(row, at) };
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
