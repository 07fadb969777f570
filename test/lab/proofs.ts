/** A proof that anyone can run, and the promise that it proves. */
export interface Proof {
  /** The script of package.json. */
  readonly script: string;
  readonly promise: string;
  /** The time of a whole run on two cores, roughly, in minutes. */
  readonly minutes: number;
  /** Requirements beside Node. */
  readonly needs: readonly (
    | "PostgreSQL"
    | "cc"
    | "root"
    | "Chromium"
    | "nginx"
    | "Caddy"
    | "PHP"
    | "MariaDB"
    | "WordPress"
    | "WooCommerce"
    | "podman"
    | "npm's registry"
  )[];
  /** The environment variables that make it smaller or larger. */
  readonly variables?: readonly string[];
}

/** All proofs, in the order in which `npm run prove -- all` runs them. */
export const proofs: readonly Proof[] = [
  {
    script: "prove:faults",
    promise:
      "Nothing acknowledged is lost or done twice by kill -9, SIGTERM, a database that stops, a paused server, failing " +
      "or full disks, power cuts, and clock jumps.",
    minutes: 35,
    needs: ["PostgreSQL", "cc", "root"],
    variables: [
      "PROVE_PARTS",
      "PROVE_STORES",
      "PROVE_KILLS",
      "PROVE_CUTS",
      "PROVE_STOPS",
      "PROVE_SECONDS",
    ],
  },
  {
    script: "prove:attacks",
    promise:
      "Others are served, and a user logs in, while 500 sockets send slowly or 100 passwords a second are guessed.",
    minutes: 3,
    needs: [],
    variables: ["PROVE_SOCKETS", "PROVE_LOGINS", "PROVE_SECONDS"],
  },
  {
    script: "prove:servers",
    promise: "Four servers on one database send and do nothing twice, also if one pauses.",
    minutes: 5,
    needs: ["PostgreSQL"],
  },
  {
    script: "prove:webhooks",
    promise:
      "Every event reaches its endpoint at least once, whenever servers are killed, and a dead endpoint delays no other.",
    minutes: 10,
    needs: ["PostgreSQL"],
  },
  {
    script: "prove:queue",
    promise: "A job of processes that share a queue is done once.",
    minutes: 5,
    needs: ["PostgreSQL"],
  },
  {
    script: "prove:payments",
    promise:
      "After any history of payments and reorganizations the credits are those of the chain.",
    minutes: 10,
    needs: ["PostgreSQL"],
  },
  {
    script: "prove:catchup",
    promise: "A server that was down reads 50,000 missed blocks and finds every payment.",
    minutes: 5,
    needs: ["PostgreSQL"],
  },
  {
    script: "simulate",
    promise: "In random histories of a month the store is what a model of the truth says.",
    minutes: 1,
    needs: [],
  },
  {
    script: "simulate:without",
    promise: "The simulation notices each rule that is taken out.",
    minutes: 60,
    needs: [],
  },
  {
    script: "prove:billing",
    promise: "No invoice is billed twice and none is skipped, whenever the billing run is killed.",
    minutes: 15,
    needs: ["PostgreSQL"],
  },
  {
    script: "prove:figures",
    promise: "Figures equal a recomputation from every invoice and payment.",
    minutes: 5,
    needs: ["PostgreSQL"],
  },
  {
    script: "prove:fuzz",
    promise: "No generated request is answered with 500, or otherwise than the reference says.",
    minutes: 15,
    needs: ["PostgreSQL"],
  },
  {
    script: "prove:backup",
    promise: "A backup is whole and delays no write while it is made.",
    minutes: 10,
    needs: ["PostgreSQL"],
    variables: ["PROVE_ROWS", "PROVE_STORES"],
  },
  {
    script: "prove:terminal",
    promise:
      "Commands write beside a server under load, which sees each change with its next request.",
    minutes: 10,
    needs: [],
    variables: ["TILL_PROVE_COMMANDS"],
  },
  {
    script: "prove:pages",
    promise:
      "Payers see no error, and a payment within seconds, straight and behind the shipped proxies.",
    minutes: 10,
    needs: ["Chromium", "nginx", "Caddy"],
  },
  {
    script: "prove:woocommerce",
    promise:
      "In real shops, orders that customers pay, change and leave are completed once, with exact stock, e-mails and notes.",
    minutes: 25,
    needs: ["Chromium", "PHP", "MariaDB", "WordPress", "WooCommerce"],
    variables: ["PROVE_WOO_PARTS", "PROVE_PLUGIN", "PROVE_PAIRS", "PROVE_STORAGES", "PROVE_CASES"],
  },
  {
    script: "prove:endurance",
    promise: "An hour of mixed load on each database leaves memory, files and handles flat.",
    minutes: 125,
    needs: ["PostgreSQL"],
    variables: ["PROVE_MINUTES", "PROVE_RATE", "PROVE_STORES"],
  },
  {
    script: "prove:year",
    promise:
      "In a small shop whatever expires leaves the store: after a year only the books and the audit log grow.",
    minutes: 15,
    needs: ["PostgreSQL"],
    variables: ["PROVE_DAYS", "PROVE_STORES"],
  },
  {
    script: "prove:image",
    promise:
      "The steps of the Dockerfile give the same bytes each time, and its image does with podman what the pages say: " +
      "install, serve, stop, start again, back up and restore, and two servers behind nginx of which one ends.",
    minutes: 45,
    needs: ["podman", "root", "cc", "npm's registry"],
    variables: ["PROVE_PARTS", "PROVE_KEEP", "PROVE_SECONDS"],
  },
  {
    script: "prove:block",
    promise: "The time for a full block does not depend on the number of live invoices.",
    minutes: 10,
    needs: ["PostgreSQL"],
    variables: ["PROVE_LIVE", "PROVE_ADDRESSES", "PROVE_STORES"],
  },
  {
    script: "prove:holds",
    promise:
      "An invoice on a wallet with 100,000 live ones costs hardly more than on an empty one.",
    minutes: 20,
    needs: ["PostgreSQL"],
    variables: ["PROVE_LIVE"],
  },
  {
    script: "prove:lists",
    promise: "Every list and figure of a million invoices answers in milliseconds.",
    minutes: 60,
    needs: ["PostgreSQL"],
    variables: ["PROVE_ROWS", "PROVE_KEEP", "PROVE_ONLY"],
  },
  {
    script: "prove:ratios",
    promise:
      "A new invoice takes at most 65 times the processor time of Koa, and a payer's poll 12 times.",
    minutes: 2,
    needs: [],
  },
  {
    script: "prove:rates",
    promise: "Deliveries per second, and their delay, reach the targets.",
    minutes: 10,
    needs: ["PostgreSQL"],
  },
  {
    script: "bench",
    promise: "Requests cost what docs/performance.md says, as multiples of a plain Koa server.",
    minutes: 60,
    needs: ["PostgreSQL"],
  },
  {
    script: "mutate",
    promise: "A test fails for nearly every small change of the sources that decide about money.",
    minutes: 240,
    needs: ["PostgreSQL"],
  },
];

/** The time up to which a proof is part of every night, in minutes. */
const shortMinutesMax = 5;

/** The proofs of `npm run prove -- short`, which `npm run nightly` runs. */
export const shortProofs = proofs.filter(({ minutes }) => minutes <= shortMinutesMax);
