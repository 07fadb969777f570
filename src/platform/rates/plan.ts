import { LineCounter, parseDocument } from "yaml";
import { z } from "zod";
import { findCurrency } from "../../kernel/asset.ts";
import { second } from "../../kernel/clock.ts";
import { parsePercent } from "../../kernel/percent.ts";
import { readRatio, type Ratio } from "../../kernel/ratio.ts";
import { parseUrl } from "../../kernel/url.ts";

/** A source that is asked for a pair's rate over HTTP, and where the rate stands in its answer. */
export interface RateSource {
  /** Such as `kraken`. Operators are shown the name and never the URL, which may hold a key. */
  readonly name: string;
  readonly url: string;
  /** A JSON Pointer into the answer. */
  readonly value: string;
  /** The source quotes the opposite direction. */
  readonly isInverted: boolean;
  /** A JSON Pointer to the day or the Unix time that the rate is of; null: the answer does not say. */
  readonly dated: string | null;
  /** Interval between two requests to the URL that both got an answer, in milliseconds. */
  readonly refreshMs: number;
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
  /** How far from the median a source may be, as a fraction of it. */
  readonly maxSpread: Ratio;
  /** No reading outside of these is believed; null: any. */
  readonly least: Ratio | null;
  readonly most: Ratio | null;
}

/** Where rates come from and when they are refused: `config/rates.yaml`. */
export interface RatesPlan {
  /** Interval between two checks of every pair, in milliseconds. */
  readonly refreshMs: number;
  /** A quote older than this is no rate. */
  readonly maxAgeMs: number;
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
const refreshSecondsMin = 5;
/** A day: sources that publish once a day need not be asked more often. */
const refreshSecondsMax = 86_400;

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

const sourceName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9.-]{0,39}$/, "must be a short name such as kraken");
const pointer = z
  .string()
  .regex(/^(\/([^~/]|~[01])*)+$/, "must be a JSON Pointer such as /rates/USD");
const refreshSeconds = z.int().min(refreshSecondsMin).max(refreshSecondsMax);

const sourceSchema = z.strictObject({
  url: z.string().refine(isHttpUrl, {
    error: "must be an http: or https: URL without a name and password",
  }),
  value: pointer,
  inverted: z.boolean().default(false),
  dated: pointer.optional(),
  refreshSeconds: refreshSeconds.optional(),
});
/** A pair names a source of the file, or describes one of its own. */
const pairSourceSchema = z.preprocess(
  (given) => (typeof given === "string" ? { name: given } : given),
  z
    .strictObject(
      {
        name: sourceName,
        ...sourceSchema.partial({ url: true, value: true }).shape,
      },
      {
        error: ({ code }) =>
          code === "invalid_type"
            ? "must be the name of a source, or a source with a name, url and value"
            : undefined,
      },
    )
    .refine((source) => (source.url === undefined) === (source.value === undefined), {
      error: "needs both a url and a value, or neither where it names a source of the file",
    }),
);

const pairSchema = z
  .strictObject({
    fixed: rate.optional(),
    sources: z.array(pairSourceSchema).min(1).max(sourcesMax).optional(),
    maxSpreadPercent: percent.optional(),
    least: rate.optional(),
    most: rate.optional(),
  })
  .refine(({ fixed, sources }) => (fixed === undefined) !== (sources === undefined), {
    error: "needs either a fixed rate or sources to ask",
  })
  .refine(({ sources = [] }) => new Set(sources.map(({ name }) => name)).size === sources.length, {
    error: "names a source twice",
  });

type PairEntry = z.infer<typeof pairSchema>;
type SourceEntry = z.infer<typeof sourceSchema>;

const fileSchema = z.strictObject({
  refreshSeconds: refreshSeconds.default(300),
  maxAgeSeconds: z.int().min(10).max(86_400).default(3_600),
  maxSpreadPercent: percent.prefault("2"),
  maxJumpPercent: percent.prefault("10"),
  jumpWindowSeconds: z.int().min(10).max(604_800).default(86_400),
  sources: z.record(sourceName, sourceSchema).nullable().default({}),
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
  const shared = new Map(Object.entries(data.sources ?? {}));
  const problems = findWrongPairs(
    entries.map(([name]) => name),
    symbols,
  );
  for (const [name, { sources = [] }] of entries) {
    for (const source of sources) {
      if (source.url !== undefined || shared.has(source.name)) continue;
      const message = `names ${source.name}, which is none of the file's sources`;
      problems.push({ path: `pairs.${name}.sources`, message });
    }
  }
  if (data.maxAgeSeconds < data.refreshSeconds) {
    problems.push({ path: "maxAgeSeconds", message: "must not be less than refreshSeconds" });
  }
  if (problems.length > 0) return { ok: false, problems };
  return {
    ok: true,
    plan: {
      refreshMs: data.refreshSeconds * second,
      maxAgeMs: data.maxAgeSeconds * second,
      maxJump: data.maxJumpPercent,
      jumpWindowMs: data.jumpWindowSeconds * second,
      pairs: entries.map(([name, entry]) =>
        readPair(name, entry, {
          shared,
          refreshSeconds: data.refreshSeconds,
          maxSpread: data.maxSpreadPercent,
        }),
      ),
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

function readPair(
  name: string,
  entry: PairEntry,
  file: {
    readonly shared: ReadonlyMap<string, SourceEntry>;
    readonly refreshSeconds: number;
    readonly maxSpread: Ratio;
  },
): RatePair {
  const [from = "", to = ""] = name.split("/");
  const filled = (text: string) => text.replaceAll("{from}", from).replaceAll("{to}", to);
  const described = (entry.sources ?? []).flatMap(({ name: source, url, value, ...own }) => {
    if (url !== undefined && value !== undefined) return [{ ...own, url, value, name: source }];
    const found = file.shared.get(source);
    return found === undefined ? [] : [{ ...found, name: source }];
  });
  return {
    ...{ name, from, to },
    fixed: entry.fixed ?? null,
    sources: described.map((source) => ({
      name: source.name,
      url: filled(source.url),
      value: filled(source.value),
      isInverted: source.inverted,
      dated: source.dated === undefined ? null : filled(source.dated),
      refreshMs: (source.refreshSeconds ?? file.refreshSeconds) * second,
    })),
    maxSpread: entry.maxSpreadPercent ?? file.maxSpread,
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

/** The plan without the pairs that sources are asked for: an installation that asks nobody. */
export function withoutSources(plan: RatesPlan): RatesPlan {
  return { ...plan, pairs: plan.pairs.filter(({ fixed }) => fixed !== null) };
}

/** A plan without pairs: only pegs are quoted. */
export const noRates: RatesPlan = {
  refreshMs: 300 * second,
  maxAgeMs: 3_600 * second,
  maxJump: { numerator: 1n, denominator: 10n },
  jumpWindowMs: 86_400 * second,
  pairs: [],
};
