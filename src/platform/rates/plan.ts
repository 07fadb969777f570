import { LineCounter, parseDocument } from "yaml";
import { z } from "zod";
import { findCurrency } from "../../kernel/asset.ts";
import { second } from "../../kernel/clock.ts";
import { parsePercent } from "../../kernel/percent.ts";
import { readRatio, type Ratio } from "../../kernel/ratio.ts";
import { parseUrl } from "../../kernel/url.ts";

/** Who is asked for a pair's rate over HTTP, and where in their answer it stands. */
export interface RateSource {
  /** Such as `kraken`: what operators are shown, and never the URL, which may hold a key. */
  readonly name: string;
  readonly url: string;
  /** A JSON Pointer into the answer. */
  readonly value: string;
  /** The source quotes the opposite direction. */
  readonly isInverted: boolean;
}

/** Two kinds of money between which there is a rate: what one `from` is worth in `to`. */
export interface RatePair {
  /** `EUR/USD`. */
  readonly name: string;
  readonly from: string;
  readonly to: string;
  /** The rate that the operator wrote down; null where it is asked for. */
  readonly fixed: Ratio | null;
  readonly sources: readonly RateSource[];
  /** No reading outside of these is believed; null: any. */
  readonly least: Ratio | null;
  readonly most: Ratio | null;
}

/** Where rates come from and when they are refused: `config/rates.yaml`. */
export interface RatesPlan {
  readonly refreshMs: number;
  /** A quote older than this is no rate. */
  readonly maxAgeMs: number;
  /** How far from the median a source may be, as a fraction of it. */
  readonly maxSpread: Ratio;
  /** A change by more than this fraction of the last accepted quote has to be confirmed. */
  readonly maxJump: Ratio;
  /** An accepted quote older than this says nothing about a jump. */
  readonly jumpWindowMs: number;
  readonly pairs: readonly RatePair[];
}

export type ParsedRates =
  | { readonly ok: true; readonly plan: RatesPlan }
  | { readonly ok: false; readonly problems: readonly { path: string; message: string }[] };

const pairsMax = 200;
const sourcesMax = 9;

const percent = z
  .string({ error: 'must be a percentage as text such as "2.5": write it in quotes' })
  .refine((text) => (parsePercent(text)?.numerator ?? 0n) > 0n, {
    error: "must be a percentage above 0 and up to 100, with at most 4 decimals",
  })
  .transform((text) => parsePercent(text) ?? readRatio("1"));

const rate = z
  .string({ error: 'must be a decimal number as text such as "1.0834": write it in quotes' })
  .refine((text) => isRate(text), { error: "must be a decimal number above 0" })
  .transform(readRatio);

const sourceSchema = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9.-]{0,39}$/, "must be a short name such as kraken"),
  url: z.string().refine(isHttpUrl, {
    error: "must be an http: or https: URL without a name and password",
  }),
  value: z.string().regex(/^(\/([^~/]|~[01])*)+$/, "must be a JSON Pointer such as /rates/USD"),
  inverted: z.boolean().default(false),
});

const pairSchema = z
  .strictObject({
    fixed: rate.optional(),
    sources: z.array(sourceSchema).min(1).max(sourcesMax).optional(),
    least: rate.optional(),
    most: rate.optional(),
  })
  .refine(({ fixed, sources }) => (fixed === undefined) !== (sources === undefined), {
    error: "needs either a fixed rate or sources to ask",
  })
  .refine(({ sources = [] }) => new Set(sources.map(({ name }) => name)).size === sources.length, {
    error: "names a source twice",
  });

const fileSchema = z.strictObject({
  refreshSeconds: z.int().min(5).max(3_600).default(60),
  maxAgeSeconds: z.int().min(10).max(86_400).default(900),
  maxSpreadPercent: percent.prefault("2"),
  maxJumpPercent: percent.prefault("10"),
  jumpWindowSeconds: z.int().min(10).max(604_800).default(3_600),
  pairs: z
    .record(z.string(), pairSchema)
    .refine((pairs) => Object.keys(pairs).length <= pairsMax, {
      error: `may hold at most ${String(pairsMax)} pairs`,
    })
    .nullable()
    .default({}),
});

/**
 * Reads the file of rates; every wrong entry is reported at once.
 * @param symbols the tokens of the network table, which rates may be about beside currencies.
 */
export function parseRates(yamlText: string, symbols: ReadonlySet<string>): ParsedRates {
  const lines = new LineCounter();
  const document = parseDocument(yamlText, { lineCounter: lines, prettyErrors: false });
  if (document.errors.length > 0) {
    const problems = document.errors.map((error) => ({
      path: `line ${String(lines.linePos(error.pos[0]).line)}`,
      message: error.message,
    }));
    return { ok: false, problems };
  }
  const parsed = fileSchema.safeParse(document.toJS() ?? {});
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => ({
      path: issue.path.map(String).join("."),
      message: issue.message,
    }));
    return { ok: false, problems };
  }
  const { data } = parsed;
  const entries = Object.entries(data.pairs ?? {});
  const problems = findWrongPairs(
    entries.map(([name]) => name),
    symbols,
  );
  if (data.maxAgeSeconds < data.refreshSeconds) {
    problems.push({ path: "maxAgeSeconds", message: "must not be less than refreshSeconds" });
  }
  if (problems.length > 0) return { ok: false, problems };
  return {
    ok: true,
    plan: {
      refreshMs: data.refreshSeconds * second,
      maxAgeMs: data.maxAgeSeconds * second,
      maxSpread: data.maxSpreadPercent,
      maxJump: data.maxJumpPercent,
      jumpWindowMs: data.jumpWindowSeconds * second,
      pairs: entries.map(([name, entry]) => readPair(name, entry)),
    },
  };
}

function findWrongPairs(names: readonly string[], symbols: ReadonlySet<string>) {
  const problems: { path: string; message: string }[] = [];
  const isKnown = (code: string) => findCurrency(code) !== null || symbols.has(code);
  for (const name of names) {
    const report = (message: string) => problems.push({ path: `pairs.${name}`, message });
    const [from = "", to = "", ...more] = name.split("/");
    if (from === "" || to === "" || more.length > 0) {
      report("must be named by two codes such as EUR/USD");
      continue;
    }
    const stranger = [from, to].find((code) => !isKnown(code));
    if (stranger !== undefined) {
      report(`names ${stranger}, which is no currency of ISO 4217 and no token of a network`);
    }
    if (from === to) report("must be between two kinds of money");
    if (names.includes(`${to}/${from}`) && from < to) {
      report(`is there as ${to}/${from} too, which gives both directions: keep one`);
    }
  }
  return problems;
}

function readPair(name: string, entry: z.infer<typeof pairSchema>): RatePair {
  const [from = "", to = ""] = name.split("/");
  const filled = (text: string) => text.replaceAll("{from}", from).replaceAll("{to}", to);
  return {
    ...{ name, from, to },
    fixed: entry.fixed ?? null,
    sources: (entry.sources ?? []).map(({ name: source, url, value, inverted }) => ({
      name: source,
      url: filled(url),
      value: filled(value),
      isInverted: inverted,
    })),
    least: entry.least ?? null,
    most: entry.most ?? null,
  };
}

function isRate(text: string): boolean {
  try {
    readRatio(text);
    return true;
  } catch {
    return false;
  }
}

function isHttpUrl(text: string): boolean {
  const url = parseUrl(text);
  if (url === null) return false;
  return /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
}

/** What asks nobody and quotes nothing but pegs. */
export const noRates: RatesPlan = {
  refreshMs: 60 * second,
  maxAgeMs: 900 * second,
  maxSpread: { numerator: 1n, denominator: 50n },
  maxJump: { numerator: 1n, denominator: 10n },
  jumpWindowMs: 3_600 * second,
  pairs: [],
};
