import { bind, type Bound } from "../../kernel/bind.ts";
import type { Principal } from "../../api/declare/access.ts";
import type { Instant } from "../../kernel/clock.ts";
import { Forbidden } from "../../api/declare/problems.ts";
import { invalidField, notFound } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { parsePage, toPage, type Page, type PageQuery } from "../../kernel/page.ts";
import { findToken, type Network } from "../../platform/chain/networks.ts";
import { difference, type Journal } from "../../platform/journal/index.ts";
import type { Tx, WriteContext } from "../../platform/database/database.ts";
import { handlingRole } from "../members/members.ts";
import { lockUser } from "../members/store.ts";
import { InReview, KeyHasNoOwner, KybIncomplete, TooManyUnapproved } from "./errors.ts";
import { keepLogos, readLogo } from "./branding/logos.ts";
import type { OrganizationDependencies, Organizations } from "./organizations.ts";
import { readOrigins } from "./checkout-policy/origins.ts";
import {
  distinctOptions,
  type OptionInput,
  type PaymentOption,
} from "./checkout-policy/payment-options.ts";
import { changesLegalFields, missingForReview, type LatePayments } from "./rules.ts";
import { announcementOf, requireTransition, save } from "./saving.ts";
import {
  countUnapproved,
  findOrganization,
  lockOrganization,
  onlyOrganization,
  organizationsOfUser,
  platformOrganization,
} from "./store.ts";
import { organizationReviews, type OrganizationRow } from "./table.ts";

/** Changes to an organization: absent leaves a field unchanged, null clears it. */
export interface OrganizationChanges {
  readonly name?: string | undefined;
  readonly displayName?: string | undefined;
  /** `#` and six hexadecimal digits in lower case. */
  readonly accentColor?: string | null | undefined;
  readonly allowedOrigins?: readonly string[] | undefined;
  /** The logo's file in Base64. */
  readonly logo?: string | null | undefined;
  readonly legalName?: string | null | undefined;
  readonly registrationNumber?: string | null | undefined;
  readonly country?: string | null | undefined;
  readonly address?: string | null | undefined;
  readonly website?: string | null | undefined;
  readonly contactEmail?: string | null | undefined;
  readonly businessDescription?: string | null | undefined;
}

export interface PaymentPolicyChanges {
  readonly latePayments?: LatePayments | undefined;
  /** In days, 1 to 90. Applies to invoices issued or canceled from now on. */
  readonly lateWindowDays?: number | undefined;
  /** The options of invoices whose request names none; null: a request must name them. */
  readonly paymentOptions?: readonly OptionInput[] | null | undefined;
}

export type OrganizationService = Bound<typeof methods>;

type Deps = OrganizationDependencies & {
  readonly organizations: Organizations;
  /** The enabled networks, which payment options may name. */
  readonly networks: ReadonlyMap<string, Network>;
};

const methods = { list, get, create, update, updatePaymentPolicy, submitKyb };

export function makeOrganizationService(deps: Deps): OrganizationService {
  return bind(deps, methods);
}

/** Returns a page of the caller's organizations: a user's memberships, or an API key's own. */
async function list(
  { db }: Deps,
  actor: Principal,
  query: PageQuery,
): Promise<Page<OrganizationRow>> {
  const page = parsePage(query, "organizations", { principal: actor.id });
  const rows =
    actor.type === "user"
      ? await organizationsOfUser(db, actor.id, page)
      : await onlyOrganization(db, actor.organizationId, page);
  return toPage(rows, page);
}

async function get({ db }: Deps, organizationId: Id<"organization">): Promise<OrganizationRow> {
  const row = await findOrganization(db, organizationId);
  if (row === null) throw notFound();
  return row;
}

/** The number of organizations without approval that a user may have created. */
const unapprovedMax = 10;

/** Creates an organization that the caller owns. 409 `organization_limit` if too many that they created wait for approval. */
function create(
  deps: Deps,
  context: WriteContext,
  actor: Principal,
  input: { readonly name: string },
): Promise<OrganizationRow> {
  const { db, clock } = deps;
  const ownerId = actor.type === "user" ? actor.id : actor.createdBy;
  if (ownerId === null) {
    throw new KeyHasNoOwner(
      "The operator created this key, so no user would own the organization. Log in as a user, or use a key that a user created.",
    );
  }
  return db.write(context, async (tx) => {
    if (deps.verification === "required") {
      await lockUser(tx, ownerId);
      if ((await countUnapproved(tx, ownerId)) >= unapprovedMax) {
        throw new TooManyUnapproved(
          `A user may create ${String(unapprovedMax)} organizations before the platform approves one of them. Submit one for review.`,
        );
      }
    }
    return deps.organizations.add(tx, clock.now(), { name: input.name, ownerId });
  });
}

/**
 * Changes the profile. Changing a legal field in an approved organization resets it to `unverified`. Where
 * verification is required, the new name and logo of a reviewed organization wait for the next approval.
 */
function update(
  deps: Deps,
  context: WriteContext,
  organizationId: Id<"organization">,
  changes: OrganizationChanges,
  expect: (current: OrganizationRow) => void,
): Promise<OrganizationRow> {
  const { db, clock, journal } = deps;
  const { logo: image, ...others } = changes;
  const logo = image == null ? null : readLogo(image);
  const wanted = image === undefined ? others : { ...others, logo: logo?.name ?? null };
  return db.write(context, async (tx) => {
    const at = clock.now();
    const current = await lockOrganization(tx, organizationId);
    expect(current);
    const given = withoutUnreviewed(current, wanted, deps.verification);
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
    const next = await save(tx, at, current, {
      ...given,
      ...(losesApproval ? { verificationStatus: "unverified" as const } : {}),
    });
    if (hasNewSign) await keepLogos(tx, next, logo);
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
      await notifyPlatform(journal, tx, at, next);
    }
    return next;
  });
}

/**
 * Sets how late payments are handled, for future payments, and the usual options of invoices, for future ones. 400 if an
 * option's network or token is not enabled.
 */
function updatePaymentPolicy(
  { db, clock, journal, networks }: Deps,
  context: WriteContext,
  organizationId: Id<"organization">,
  changes: PaymentPolicyChanges,
  expect: (current: OrganizationRow) => void,
): Promise<OrganizationRow> {
  const options =
    changes.paymentOptions == null
      ? changes.paymentOptions
      : enabledOptions(networks, distinctOptions(changes.paymentOptions));
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
    const next = await save(tx, at, current, given);
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
  for (const [place, { network: id, tokenSymbol }] of options.entries()) {
    const network = networks.get(id);
    const pointer = `/paymentOptions/${String(place)}`;
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

/** Submits the legal fields for review; 422 names every missing field. */
function submitKyb(
  { db, clock, ids, journal }: Deps,
  context: WriteContext,
  organizationId: Id<"organization">,
): Promise<OrganizationRow> {
  return db.write(context, async (tx) => {
    const at = clock.now();
    const current = await lockOrganization(tx, organizationId);
    requireTransition(current, "pending_review");
    const missing = missingForReview(current);
    if (missing.length > 0) {
      throw new KybIncomplete(`Set these fields, then submit again: ${missing.join(", ")}.`, {
        errors: missing.map((name) => ({
          pointer: `/${name}`,
          code: "required",
          message: "is required for the review",
        })),
      });
    }
    const next = await save(tx, at, current, {
      verificationStatus: "pending_review",
      kybSubmittedAt: at,
      reviewNote: null,
    });
    await tx.insert(organizationReviews, {
      id: ids.next("review", at),
      organizationId,
      decision: "submitted",
      fromStatus: current.verificationStatus,
      toStatus: "pending_review",
      note: null,
      reviewerId: null,
      reviewerEmail: null,
      createdAt: at,
    });
    journal.record(tx, at, {
      action: "organization.verification_submitted",
      organizationId,
      subjectType: "organization",
      subjectId: organizationId,
      changes: {
        verificationStatus: { from: current.verificationStatus, to: "pending_review" },
      },
      events: announcementOf(
        "organization.verification_submitted",
        next,
        current.verificationStatus,
      ),
    });
    return next;
  });
}

/** The fields by which payers recognize the merchant. */
const signFields = ["displayName", "pendingDisplayName", "logo", "pendingLogo"] as const;

/**
 * Returns the fields to set. Where verification is required, a new name or logo of an organization that was reviewed
 * before is only requested: otherwise a merchant could take a bank's after the approval. A logo can be removed at
 * once; during a review, `update` refuses that as any other change of these fields.
 */
function withoutUnreviewed(
  current: OrganizationRow,
  changes: OrganizationChanges,
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
async function notifyPlatform(
  journal: Journal,
  tx: Tx,
  at: Instant,
  row: OrganizationRow,
): Promise<void> {
  const platform = await platformOrganization(tx);
  if (platform === null || platform.id === row.id) return;
  journal.record(tx, at, {
    organizationId: platform.id,
    subjectType: "organization",
    subjectId: row.id,
    events: announcementOf("organization.updated", row, "approved"),
  });
}
