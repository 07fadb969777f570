import type { Id } from "../../../kernel/id.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { holdLock } from "../../../platform/database/write/locks.ts";
import { LinkLimitReached, type LinkLimitName } from "../errors.ts";
import type { InvoiceRow } from "../store.ts";

/**
 * The largest numbers of open invoices without any money that payers started at links. If several are reached, the first
 * one is named: those of everybody come before those of a range.
 */
export const linkLimits = {
  /** Of one link. */
  link: 200,
  /** Of all links of an organization. */
  organization: 1_000,
  /** Of one link, started from one range of client addresses: an IPv6 /48 or an IPv4 /24. */
  rangeAtLink: 50,
  /** Of all links of an organization, started from one range of client addresses. */
  rangeInOrganization: 250,
} as const;

type LinkLimit = keyof typeof linkLimits;

/** The limits' names, and whose unpaid invoices they count, as a payer reads it. */
const refusals: Readonly<Record<LinkLimit, readonly [name: LinkLimitName, whose: string]>> = {
  link: ["link", "this payment link"],
  organization: ["organization", "all payment links of the organization together"],
  rangeAtLink: [
    "range_at_link",
    "this payment link that were started from your range of addresses",
  ],
  rangeInOrganization: [
    "range_in_organization",
    "all payment links of the organization together that were started from your range of addresses",
  ],
};

/**
 * The longest time to pay of an invoice that a payer starts while more than half of a link's or an organization's limit
 * is used, in seconds. It is the usual time of invoices: only links with a longer one make room sooner.
 */
const hastenedSeconds = 3_600;

interface StartedCount {
  readonly link: Id<"paymentLink"> | null;
  readonly from: string | null;
  readonly open: number;
}

/** The invoices that the writes of one commit on SQLite have started, which no statement finds yet. */
type UnstoredStarts = Map<Id<"organization">, StartedCount[]>;
const makeStarts = (): UnstoredStarts => new Map();

/**
 * Requires room for another unpaid invoice at the link at which a payer starts the draft, and returns the draft, with a
 * shorter time to pay if more than half of the room is used. A draft that no payer started is returned as it is. Other
 * transactions that start invoices of the organization wait until this one ends, so the limits are exact. Throws
 * `link_limit_reached`.
 */
export async function withinLinkLimits(tx: Tx, draft: InvoiceRow): Promise<InvoiceRow> {
  const { organizationId, startedAtLink, startedFrom } = draft;
  if (startedAtLink === null) return draft;
  await holdLock(tx, `links ${organizationId}`);
  const stored = await tx.all<StartedCount>(
    `SELECT started_at_link AS "link", started_from AS "from", count(*) AS "open" FROM invoices
     WHERE organization_id = $1 AND started_at_link IS NOT NULL AND status = 'open'
     GROUP BY started_at_link, started_from`,
    [organizationId],
  );
  const unstored = tx.isExclusive ? (tx.shared(makeStarts).get(organizationId) ?? []) : [];
  const started = [...stored, ...unstored];
  const count = (counts: (one: StartedCount) => boolean) =>
    started.filter(counts).reduce((sum, { open }) => sum + open, 0);
  const isHere = ({ link }: StartedCount) => link === startedAtLink;
  const isFromHere = ({ from }: StartedCount) => startedFrom !== null && from === startedFrom;
  const uses = {
    link: count(isHere),
    rangeAtLink: count((one) => isHere(one) && isFromHere(one)),
    organization: count(() => true),
    rangeInOrganization: count(isFromHere),
  };
  const limits = Object.keys(linkLimits) as LinkLimit[];
  const reached = limits.find((limit) => uses[limit] >= linkLimits[limit]);
  if (reached !== undefined) {
    const [name, whose] = refusals[reached];
    throw new LinkLimitReached(
      `${String(linkLimits[reached])} invoices of ${whose} are unpaid, which is the most there may be. They make room when they are paid, canceled or expired.`,
      name,
    );
  }
  const isHalfUsed =
    uses.link * 2 >= linkLimits.link || uses.organization * 2 >= linkLimits.organization;
  if (!isHalfUsed) return draft;
  return { ...draft, expiresInSeconds: Math.min(draft.expiresInSeconds, hastenedSeconds) };
}

/** Notes an invoice that was issued within the limits for the later writes of the same commit. */
export function noteStarted(
  tx: Tx,
  { organizationId, startedAtLink: link, startedFrom: from }: InvoiceRow,
): void {
  if (link === null || !tx.isExclusive) return;
  const starts = tx.shared(makeStarts);
  const own = starts.get(organizationId) ?? [];
  own.push({ link, from, open: 1 });
  starts.set(organizationId, own);
}
