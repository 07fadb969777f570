import { Forbidden } from "../../http/declare/problems.ts";
import type { App, InTx } from "../../app.ts";
import type { Principal } from "../../http/declare/permissions.ts";
import type { Instant } from "../../kernel/clock.ts";
import { defineProblem, invalidField, notFound } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { parsePage, toPage, type Page, type PageQuery } from "../../kernel/page.ts";
import { findToken, type Network } from "../../platform/chain/networks.ts";
import type { EventType } from "../../platform/events/catalogue.ts";
import { difference, type Announcement } from "../../platform/journal.ts";
import type { Tx, WriteContext } from "../../platform/database/database.ts";
import { addMembership, handlingRole } from "../members/members.ts";
import { lockUser } from "../members/store.ts";
import { storeLogos, readLogo } from "./logos.ts";
import { distinctOptions, readOrigins, type PaymentOption } from "./checkout-policy.ts";
import {
  presentOrganization,
  type CreateOrganizationInput,
  type UpdateOrganizationInput,
  type UpdatePaymentPolicyInput,
} from "./records.ts";
import { changesLegalFields, lateWindowDays, type VerificationStatus } from "./rules.ts";
import {
  countUnapproved,
  findOrganization,
  lockOrganization,
  onlyOrganization,
  organizations,
  organizationsOfUser,
  platformOrganization,
  type OrganizationRow,
} from "./store.ts";

export const KeyHasNoOwner = defineProblem({
  code: "key_has_no_owner",
  status: 403,
  title: "A key created by the operator cannot create an organization",
  remedy: "Log in as a user, or use a key that a user created: a new organization needs an owner.",
});
export const TooManyUnapproved = defineProblem({
  code: "organization_limit",
  status: 409,
  title: "Too many of the user's organizations wait for approval",
  remedy: "Have one of them approved, or use one of them.",
});
export const InReview = defineProblem({
  code: "organization_in_review",
  status: 409,
  title: "The organization is in review",
  remedy: "Wait for the platform's decision, then change the profile.",
});
const PlatformStays = defineProblem({
  code: "platform_organization",
  status: 409,
  title: "This is the platform organization",
});

/** Returns a page of the caller's organizations: a user's memberships, or an API key's own. */
export async function listOrganizations(
  app: App,
  actor: Principal,
  query: PageQuery,
): Promise<Page<OrganizationRow>> {
  const { db } = app;
  const page = parsePage(query, "organizations", { principal: actor.id });
  const rows =
    actor.type === "user"
      ? await organizationsOfUser(db, actor.id, page)
      : await onlyOrganization(db, actor.organizationId, page);
  return toPage(rows, page);
}

/** Returns an organization. @throws a 404 problem if the id is unknown */
export async function getOrganization(
  app: App,
  organizationId: Id<"organization">,
): Promise<OrganizationRow> {
  const row = await findOrganization(app.db, organizationId);
  if (row === null) throw notFound();
  return row;
}

/** The number of organizations without approval that a user may have created. */
const unapprovedMax = 10;

/** Creates an organization that the caller owns. 409 `organization_limit` if too many that they created wait for approval. */
export function createOrganization(
  app: App,
  context: WriteContext,
  actor: Principal,
  input: CreateOrganizationInput,
): Promise<OrganizationRow> {
  const ownerId = actor.type === "user" ? actor.id : actor.createdBy;
  if (ownerId === null) {
    throw new KeyHasNoOwner(
      "The operator created this key, so no user would own the organization. Log in as a user, or use a key that a user created.",
    );
  }
  return app.db.write(context, async (tx) => {
    if (app.config.verification === "required") {
      await lockUser(tx, ownerId);
      if ((await countUnapproved(tx, ownerId)) >= unapprovedMax) {
        throw new TooManyUnapproved(
          `A user may create ${String(unapprovedMax)} organizations before the platform approves one of them. Submit one for review.`,
        );
      }
    }
    return addOrganization(tx, app, app.clock.now(), { name: input.name, ownerId });
  });
}

/**
 * Changes the profile. Changing a legal field in an approved organization resets it to `unverified`. Where
 * verification is required, the new name and logo of a reviewed organization wait for the next approval.
 */
export function updateOrganization(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  changes: UpdateOrganizationInput,
  expect: (current: OrganizationRow) => void,
): Promise<OrganizationRow> {
  const { db, clock, journal } = app;
  const { logo: image, ...others } = changes;
  const logo = image == null ? null : readLogo(image);
  const wanted = image === undefined ? others : { ...others, logo: logo?.name ?? null };
  return db.write(context, async (tx) => {
    const at = clock.now();
    const current = await lockOrganization(tx, organizationId);
    expect(current);
    const given = withoutUnreviewed(current, wanted, app.config.verification);
    const changed = difference(current, given);
    if (Object.keys(changed).length === 0) return current;
    const touchesReview = changesLegalFields(current, changes);
    const hasNewSign = signFields.some((name) => name in changed);
    // The reviewer approves the name and the logo that payers will see.
    if ((touchesReview || hasNewSign) && current.verificationStatus === "pending_review") {
      throw new InReview(
        "Legal fields, the display name and the logo cannot be changed during the review. Wait for the decision.",
      );
    }
    const losesApproval = touchesReview && current.verificationStatus === "approved";
    const next = await saveOrganization(tx, at, current, {
      ...given,
      ...(losesApproval ? { verificationStatus: "unverified" as const } : {}),
    });
    if (hasNewSign) await storeLogos(tx, next, logo);
    journal.record(tx, at, {
      action: "organization.updated",
      organizationId,
      subjectType: "organization",
      subjectId: organizationId,
      changes: difference(current, { ...given, verificationStatus: next.verificationStatus }),
      events:
        losesApproval || hasNewSign
          ? announcementOf("organization.updated", next, current.verificationStatus)
          : undefined,
    });
    if (hasNewSign && current.verificationStatus === "approved") {
      await notifyPlatform(tx, app, at, next);
    }
    return next;
  });
}

/** The fields by which payers recognize the merchant. */
const signFields = ["displayName", "pendingDisplayName", "logo", "pendingLogo"] as const;

/**
 * Returns the fields to set. Where verification is required, a new name or logo of an organization that was reviewed
 * before is only requested: otherwise a merchant could take a bank's after the approval. A logo can be removed at
 * once; during a review, `updateOrganization` refuses that as any other change of these fields.
 */
function withoutUnreviewed(
  current: OrganizationRow,
  changes: UpdateOrganizationInput,
  verification: "required" | "off",
): Partial<OrganizationRow> {
  const given = Object.fromEntries(
    Object.entries(changes).filter(([, value]) => value !== undefined),
  ) as Partial<OrganizationRow>;
  const { displayName, logo, allowedOrigins, ...rest } = given;
  const isReviewed = verification === "required" && current.reviewedAt !== null;
  const isWaiting = isReviewed && logo != null;
  return {
    ...rest,
    ...(allowedOrigins === undefined ? {} : { allowedOrigins: readOrigins(allowedOrigins) }),
    ...(displayName === undefined
      ? {}
      : isReviewed
        ? { pendingDisplayName: displayName === current.displayName ? null : displayName }
        : { displayName, pendingDisplayName: null }),
    ...(logo === undefined
      ? {}
      : isWaiting
        ? { pendingLogo: logo === current.logo ? null : logo }
        : { logo, pendingLogo: null }),
  };
}

/** Informs the platform when an approved organization changes the name or the logo that payers see. */
async function notifyPlatform(tx: Tx, app: InTx, at: Instant, row: OrganizationRow): Promise<void> {
  const platform = await platformOrganization(tx);
  if (platform === null || platform.id === row.id) return;
  app.journal.record(tx, at, {
    organizationId: platform.id,
    subjectType: "organization",
    subjectId: row.id,
    events: announcementOf("organization.updated", row, "approved"),
  });
}

/** Creates an organization, with its owner if one is given. */
export async function addOrganization(
  tx: Tx,
  app: InTx,
  at: Instant,
  {
    name,
    ownerId,
    isPlatform = false,
  }: {
    readonly name: string;
    readonly ownerId: Id<"user"> | null;
    readonly isPlatform?: boolean;
  },
): Promise<OrganizationRow> {
  const row: OrganizationRow = {
    id: app.ids.next("organization", at),
    name,
    displayName: name,
    pendingDisplayName: null,
    accentColor: null,
    logo: null,
    pendingLogo: null,
    isPlatform,
    status: "active",
    verificationStatus: isPlatform ? "approved" : "unverified",
    legalName: null,
    registrationNumber: null,
    country: null,
    address: null,
    website: null,
    contactEmail: null,
    businessDescription: null,
    reviewNote: null,
    kybSubmittedAt: null,
    reviewedAt: null,
    latePayments: "accept",
    lateWindowDays: lateWindowDays.usual,
    allowedOrigins: [],
    paymentOptions: null,
    createdBy: ownerId,
    version: 1,
    createdAt: at,
    updatedAt: at,
  };
  await tx.insert(organizations, row);
  app.journal.record(tx, at, {
    action: "organization.created",
    organizationId: row.id,
    subjectType: "organization",
    subjectId: row.id,
    changes: { name },
  });
  if (ownerId !== null) {
    await addMembership(tx, app, at, {
      userId: ownerId,
      organizationId: row.id,
      role: "owner",
    });
  }
  return row;
}

/**
 * Suspends an organization, which makes it read-only, or resumes it. Repeating has no effect. The platform
 * organization is a 409, because its own admins could then no longer resume it.
 */
export async function setOrganizationStatus(
  tx: Tx,
  app: InTx,
  at: Instant,
  organizationId: Id<"organization">,
  status: OrganizationRow["status"],
): Promise<OrganizationRow> {
  const current = await lockOrganization(tx, organizationId);
  if (current.status === status) return current;
  if (current.isPlatform) {
    throw new PlatformStays("The platform organization cannot be suspended.");
  }
  const next = await saveOrganization(tx, at, current, { status });
  const action = status === "suspended" ? "organization.suspended" : "organization.resumed";
  app.journal.record(tx, at, {
    action,
    organizationId,
    subjectType: "organization",
    subjectId: organizationId,
    changes: { status: { from: current.status, to: status } },
    events: announcementOf(action, next, current.status),
  });
  return next;
}

/** Writes the next version of an organization that the transaction has locked. */
export async function saveOrganization(
  tx: Tx,
  at: Instant,
  current: OrganizationRow,
  changes: Partial<OrganizationRow>,
): Promise<OrganizationRow> {
  const set = { ...changes, version: current.version + 1, updatedAt: at };
  await tx.update(organizations, set, "WHERE id = $1", [current.id]);
  return { ...current, ...set };
}

/** Returns the event of a changed organization, with the API's record. */
export function announcementOf(
  type: EventType,
  row: OrganizationRow,
  previousStatus: VerificationStatus | OrganizationRow["status"],
): Announcement {
  return {
    types: [type],
    version: row.version,
    data: { ...presentOrganization(row), previousStatus },
  };
}

/**
 * Sets how late payments are handled, for future payments, and the usual options of invoices, for future ones. 400 if an
 * option's network or token is not enabled.
 */
export function updatePaymentPolicy(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  changes: UpdatePaymentPolicyInput,
  expect: (current: OrganizationRow) => void,
): Promise<OrganizationRow> {
  const { db, clock, journal } = app;
  const options =
    changes.paymentOptions == null
      ? changes.paymentOptions
      : enabledOptions(app.networks.enabled, distinctOptions(changes.paymentOptions));
  return db.write(context, async (tx) => {
    const at = clock.now();
    const current = await lockOrganization(tx, organizationId);
    expect(current);
    const { latePayments = current.latePayments, lateWindowDays: days = current.lateWindowDays } =
      changes;
    const { paymentOptions } = current;
    if (options != null) await requireWalletChoice(tx, organizationId, options, paymentOptions);
    const given = {
      latePayments,
      lateWindowDays: days,
      paymentOptions: options === undefined ? paymentOptions : options,
    };
    const changed = difference(current, given);
    if (Object.keys(changed).length === 0) return current;
    const next = await saveOrganization(tx, at, current, given);
    journal.record(tx, at, {
      action: "organization.payment_policy_updated",
      organizationId,
      subjectType: "organization",
      subjectId: organizationId,
      changes: changed,
    });
    return next;
  });
}

/**
 * Throws unless the caller may name the wallets of the usual options: new invoices are paid at them, as at the default
 * wallet of a network, so an owner or the operator chooses them. Options that name the same wallets as before are free.
 */
async function requireWalletChoice(
  tx: Tx,
  organizationId: Id<"organization">,
  options: readonly PaymentOption[],
  before: readonly PaymentOption[] | null,
): Promise<void> {
  const isKnown = ({ network, walletId }: PaymentOption) =>
    walletId === null ||
    before?.some((each) => each.network === network && each.walletId === walletId) === true;
  if (options.every(isKnown) || (await handlingRole(tx, organizationId)) === "owner") return;
  throw new Forbidden(
    "Only a logged-in owner of the organization can name the wallets of its payment options, or the operator with till payments set-policy. Without walletId, an option is paid at the default wallet of its network.",
  );
}

/** Returns the options; throws a 400 that names the first one whose network or token is not enabled. */
function enabledOptions(
  networks: ReadonlyMap<string, Network>,
  options: readonly PaymentOption[],
): readonly PaymentOption[] {
  for (const [index, { network: id, tokenSymbol }] of options.entries()) {
    const network = networks.get(id);
    const pointer = `/paymentOptions/${String(index)}`;
    if (network === undefined) {
      const message = `must be one of the enabled networks: ${[...networks.keys()].join(", ")}`;
      throw invalidField(`${pointer}/network`, "invalid_value", message);
    }
    if (findToken(network, tokenSymbol) !== null) continue;
    const symbols = network.tokens.map(({ symbol }) => symbol).join(", ");
    const message = `must be a token that is enabled on ${network.title}: ${symbols}`;
    throw invalidField(`${pointer}/tokenSymbol`, "invalid_value", message);
  }
  return options;
}
