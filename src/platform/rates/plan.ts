import * as z from "zod";
import { findCurrency } from "../../kernel/money/money.ts";
import { second } from "../../kernel/clock.ts";
import { parsePercent, readRatio, type Ratio } from "../../kernel/money/ratio.ts";
import { parseUrl } from "../../kernel/url.ts";
import { suggestion } from "../config/files/did-you-mean.ts";
import { parseYaml, type ParsedFile, type Report } from "../config/files/parse-yaml.ts";

/** An HTTP source of a pair's rate, and the location of the rate in its response. */
export interface RateSource {
  /** For example `kraken`. Operators see the name, never the URL, which may contain a key. */
  readonly name: string;
  readonly url: string;
  /** A JSON Pointer to the rate in the response. */
  readonly value: string;
  /** True if the source quotes the opposite direction. */
  readonly isInverted: boolean;
  /** A JSON Pointer to the date or Unix time of the rate; null: the response has none. */
  readonly dated: string | null;
  /** Poll interval after a successful response, in milliseconds. */
  readonly refreshMs: number;
}

/** A pair of assets with a rate: the price of one `from` in `to`. */
export interface RatePair {
  /** `EUR/USD`. */
  readonly name: string;
  readonly from: string;
  readonly to: string;
  /** The operator's fixed rate; null if the rate is fetched. */
  readonly fixed: Ratio | null;
  readonly sources: readonly RateSource[];
  /** The maximum deviation of a source from the median, as a fraction of it. */
  readonly maxSpread: Ratio;
  /** The plausible range of the rate; readings outside are rejected. Null: unlimited. */
  readonly least: Ratio | null;
  readonly most: Ratio | null;
}

/** The rates plan, from `config/rates.yaml`: sources, and when a rate is rejected. */
export interface RatesPlan {
  /** Interval between checks of all pairs, in milliseconds. */
  readonly refreshMs: number;
  /** The maximum age of a quote, in milliseconds. */
  readonly maxAgeMs: number;
  /** The relative change from the last accepted quote above which the new one must be confirmed. */
  readonly maxJump: Ratio;
  /** The maximum age of an accepted quote for the jump check, in milliseconds. */
  readonly jumpWindowMs: number;
  readonly pairs: readonly RatePair[];
}

const pairsMax = 200;
const sourcesMax = 9;
const refreshSecondsMin = 5;
/** One day: sources that publish daily need no longer interval. */
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
    error: "must be an http: or https: URL without user name and password",
  }),
  value: pointer,
  inverted: z.boolean().default(false),
  dated: pointer.optional(),
  refreshSeconds: refreshSeconds.optional(),
});
/** A source of a pair: the name of one of the file's sources, or a full description. */
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
      error: "needs both a url and a value, or neither if it names a source of the file",
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
    error: "needs either a fixed rate or sources",
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
      error: `may contain at most ${String(pairsMax)} pairs`,
    })
    .nullable()
    .default({}),
});

/**
 * Parses the rates file.
 * @param symbols the tokens of the network table, which rates may refer to besides currencies
 */
export function parseRates(text: string, symbols: ReadonlySet<string>): ParsedFile<RatesPlan> {
  return parseYaml(text, fileSchema, (file, report) => {
    const entries = Object.entries(file.pairs ?? {});
    const shared = new Map(Object.entries(file.sources ?? {}));
    reportWrongPairs(
      entries.map(([name]) => name),
      symbols,
      report,
    );
    for (const [name, { sources = [] }] of entries) {
      for (const source of sources) {
        if (source.url !== undefined || shared.has(source.name)) continue;
        const hint = suggestion(source.name, [...shared.keys()]);
        const message = `names ${source.name}, which is not a source of the file${hint}`;
        report(["pairs", name, "sources"], message);
      }
    }
    if (file.maxAgeSeconds < file.refreshSeconds) {
      report(["maxAgeSeconds"], "must not be less than refreshSeconds");
    }
    const { refreshSeconds, maxSpreadPercent: maxSpread } = file;
    return {
      refreshMs: refreshSeconds * second,
      maxAgeMs: file.maxAgeSeconds * second,
      maxJump: file.maxJumpPercent,
      jumpWindowMs: file.jumpWindowSeconds * second,
      pairs: entries.map(([name, entry]) =>
        readPair(name, entry, { shared, refreshSeconds, maxSpread }),
      ),
    };
  });
}

function reportWrongPairs(
  names: readonly string[],
  symbols: ReadonlySet<string>,
  reportAt: Report,
): void {
  const isKnown = (code: string) => findCurrency(code) !== null || symbols.has(code);
  for (const name of names) {
    const report = (message: string) => {
      reportAt(["pairs", name], message);
    };
    const [from = "", to = "", ...more] = name.split("/");
    if (from === "" || to === "" || more.length > 0) {
      report("must be named by two codes such as EUR/USD");
      continue;
    }
    const stranger = [from, to].find((code) => !isKnown(code));
    if (stranger !== undefined) {
      report(`names ${stranger}, which is neither an ISO 4217 currency nor a token of a network`);
    }
    if (from === to) report("must be between two different codes");
    if (names.includes(`${to}/${from}`) && from < to) {
      report(`duplicates ${to}/${from}, which covers both directions: keep one`);
    }
  }
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
    name,
    from,
    to,
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

/** A plan without pairs: only pegs are quoted. */
export const noRates: RatesPlan = {
  refreshMs: 300 * second,
  maxAgeMs: 3_600 * second,
  maxJump: { numerator: 1n, denominator: 10n },
  jumpWindowMs: 86_400 * second,
  pairs: [],
};

/** Removes the pairs that have sources, for installations that fetch no rates. */
export function withoutSources(plan: RatesPlan): RatesPlan {
  return { ...plan, pairs: plan.pairs.filter(({ fixed }) => fixed !== null) };
}
