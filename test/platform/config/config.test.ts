import { expect } from "chai";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LoadedConfig, ConfigError } from "../../../src/platform/config/config.ts";
import { type LoadOptions, loadConfig } from "../../../src/platform/config/load.ts";

const secret = "0123456789abcdef0123456789abcdef";

describe("loadConfig", () => {
  let cwd = "";

  beforeEach(() => {
    cwd = mkdtempSync(join(tmpdir(), "till-config-"));
  });
  afterEach(() => {
    rmSync(cwd, { recursive: true });
  });

  const load = (options: Partial<LoadOptions> = {}): Promise<LoadedConfig> =>
    loadConfig({ mode: "serve", env: {}, cwd, ...options });

  /** Returns the problems of the settings, line by line. */
  async function problems(options: Partial<LoadOptions> = {}): Promise<string[]> {
    try {
      await load(options);
      return [];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      expect(error.exitCode).to.equal(78);
      return error.problems.map(({ name, message }) => `${name} ${message}`);
    }
  }

  function write(name: string, text: string | Buffer): string {
    const path = join(cwd, name);
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  describe("without any setting", () => {
    it("serves TRON from a SQLite store in ./data on loopback, with registration closed", async () => {
      const { config } = await load();
      expect(config).to.include({
        mode: "serve",
        configFile: null,
        dataDir: join(cwd, "data"),
        databaseUrl: null,
        secret: null,
        host: "127.0.0.1",
        port: 8080,
        baseUrl: null,
        registration: "closed",
        verification: "required",
        billing: "off",
        rateLimitScale: 1,
        rateLimitCredentialPerMinute: 600,
        rateLimitCheckoutPerMinute: 6_000,
        rateLimitSubmitPerMinute: 10,
        rateLimitLoginPerMinute: 20,
        rateLimitRegistrationPerHour: 10,
        logLevel: "info",
        metricsToken: null,
        sandboxBlockMs: 1_000,
        sandboxMixed: false,
      });
      expect(config.networks.map(({ id }) => id)).to.deep.equal(["tron"]);
      expect(config.knownNetworks.map(({ id }) => id)).to.include.members(["ethereum", "sandbox"]);
      expect(config.trustProxy).to.deep.equal([]);
      expect(config.webhookAllowCidrs).to.deep.equal([]);
    });

    it("runs the demo on the sandbox with open registration and a local webhook receiver", async () => {
      const { config } = await load({ mode: "demo" });
      expect(config.networks.map(({ id }) => id)).to.deep.equal(["sandbox"]);
      expect(config).to.include({ registration: "open", verification: "required" });
      expect(config.webhookAllowCidrs).to.deep.equal(["127.0.0.1/32"]);
    });

    it("fetches rates from public sources, except in the demo or if switched off", async () => {
      const pairs = async (options: Partial<LoadOptions>) => {
        const { rates } = (await load(options)).config;
        return rates.pairs.map(({ fixed }) => (fixed === null ? "asked" : "fixed"));
      };
      expect(await pairs({})).to.deep.equal(Array(10).fill("asked"));
      expect(await pairs({ env: { TILL_RATES: "off" } })).to.deep.equal([]);
      expect(await pairs({ mode: "demo" })).to.deep.equal(Array(10).fill("fixed"));
      write("own.yaml", 'pairs: { EUR/USD: { fixed: "1.1" } }');
      const env = { TILL_RATES: "off", TILL_RATES_FILE: "own.yaml" };
      expect(await pairs({ env })).to.deep.equal(["fixed"]);
    });

    it("creates no files", async () => {
      await load();
      expect(() => {
        rmSync(join(cwd, "data"));
      }).to.throw("ENOENT");
    });
  });

  describe("precedence", () => {
    it("is flags, then environment, then file, then default", async () => {
      write("data/till.yaml", "port: 3\nhost: 10.0.0.3\nlogLevel: warn\nbilling: on\n");
      const env = { TILL_PORT: "2", TILL_HOST: "10.0.0.2" };
      const { config, settings } = await load({ env, flags: { port: "1" } });
      expect(config).to.include({
        port: 1,
        host: "10.0.0.2",
        logLevel: "warn",
        billing: "on",
        registration: "closed",
        configFile: join(cwd, "data/till.yaml"),
      });
      const origins = settings.map(({ name, origin }) => [name, origin.source, origin.name]);
      expect(origins).to.deep.include.members([
        ["TILL_PORT", "flag", "--port"],
        ["TILL_HOST", "environment", "TILL_HOST"],
        ["TILL_LOG_LEVEL", "file", `logLevel in ${join(cwd, "data/till.yaml")}`],
        ["TILL_REGISTRATION", "default", ""],
      ]);
    });

    it("ignores empty values", async () => {
      write("data/till.yaml", "port:\nhost: 10.0.0.3\n");
      const { config } = await load({ env: { TILL_HOST: "", TILL_PORT: " ", DATABASE_URL: "" } });
      expect(config).to.include({ port: 8080, host: "10.0.0.3", databaseUrl: null });
    });

    it("ignores flags that belong to no setting", async () => {
      const { config } = await load({ flags: { json: true, port: undefined, secret: "short" } });
      expect(config).to.include({ port: 8080, secret: null });
    });

    it("reads the file that --config or TILL_CONFIG_FILE names", async () => {
      const path = write("etc/my.yaml", "dataDir: ../store\nport: 99\nsecretFile: secret\n");
      write("etc/secret", `${secret}\n`);
      write("data/till.yaml", "port: 1\n");
      for (const given of [
        { flags: { config: "etc/my.yaml" } },
        { env: { TILL_CONFIG_FILE: path } },
      ]) {
        const { config } = await load(given);
        expect(config).to.include({
          port: 99,
          configFile: path,
          dataDir: join(cwd, "store"),
          secret,
        });
      }
    });

    it("resolves relative paths in flags and variables from the working directory", async () => {
      write("here/secret", secret);
      const flags = { dataDir: "there" };
      const { config } = await load({ flags, env: { TILL_SECRET_FILE: "here/secret" } });
      expect(config).to.include({ dataDir: join(cwd, "there"), secret });
    });
  });

  describe("values", () => {
    const read = async (env: Record<string, string>) => (await load({ env })).config;

    it("are lists of distinct ranges, and a single address is a range of one", async () => {
      const config = await read({
        TILL_TRUST_PROXY: "127.0.0.1, 10.0.0.0/8,,FD00::/8,127.0.0.1/32",
        TILL_WEBHOOK_ALLOW_CIDRS: "::1",
      });
      expect(config.trustProxy).to.deep.equal(["127.0.0.1/32", "10.0.0.0/8", "fd00::/8"]);
      expect(config.webhookAllowCidrs).to.deep.equal(["::1/128"]);
    });

    it("can be YAML lists in the file", async () => {
      write("data/till.yaml", "networks: [ethereum, tron]\ntrustProxy: 10.0.0.1,10.0.0.2\n");
      const { config } = await load();
      expect(config.networks.map(({ id }) => id)).to.deep.equal(["ethereum", "tron"]);
      expect(config.trustProxy).to.deep.equal(["10.0.0.1/32", "10.0.0.2/32"]);
    });

    it("are base URLs without a trailing slash", async () => {
      const urls = [
        ["https://pay.example.com/", "https://pay.example.com"],
        ["https://Example.com:443/pay//", "https://example.com/pay"],
        ["http://127.0.0.1:8080", "http://127.0.0.1:8080"],
      ];
      for (const [given = "", expected] of urls) {
        expect((await read({ TILL_BASE_URL: given })).baseUrl).to.equal(expected);
      }
    });

    it("accept the common spellings of yes and no", async () => {
      expect((await read({ TILL_BILLING: "true" })).billing).to.equal("on");
      expect((await read({ TILL_SANDBOX_MIXED: "1" })).sandboxMixed).to.equal(true);
      write("data/till.yaml", "billing: true\nverification: off\nsandboxMixed: yes\n");
      expect(await problems()).to.have.length(1);
      write("data/till.yaml", "billing: true\nverification: off\nsandboxMixed: true\n");
      expect((await load()).config).to.include({ billing: "on", verification: "off" });
    });

    it("that are invalid are reported with the accepted values", async () => {
      const wrong: Record<string, string[]> = {
        TILL_PORT: ["65536", "-1", "08080", "1e3", "0x10", "80 80", "tcp://10.0.0.1:80"],
        TILL_HOST: ["http://x", "a b", "-x", "x/y"],
        TILL_BASE_URL: [
          "pay.example.com",
          "ftp://x",
          "https://u:p@x",
          "https://x?a=1",
          "https://x#a",
        ],
        TILL_TRUST_PROXY: [
          "10.0.0.0/33",
          "::/129",
          "10.0.0",
          "proxy",
          "fe80::1%eth0",
          "1.1.1.1/8/8",
        ],
        TILL_WEBHOOK_ALLOW_CIDRS: ["all", "0.0.0.0/-1"],
        TILL_NETWORKS: [",", "TRON", "tron ethereum"],
        TILL_SANDBOX_BLOCK_MS: ["-1", "3600001", "1s", "0.5"],
        TILL_SANDBOX_MIXED: ["yes!", "2"],
        TILL_REGISTRATION: ["on", "OPEN"],
        TILL_VERIFICATION: ["on", "true"],
        TILL_BILLING: ["maybe", "required"],
        TILL_RATE_LIMIT_SCALE: ["-1", "1001", "1e2", "NaN", "Infinity", ".5"],
        TILL_RATE_LIMIT_LOGIN_PER_MINUTE: ["0", "many"],
        TILL_LOG_LEVEL: ["verbose", "INFO"],
        TILL_METRICS_TOKEN: ["short", "with spaces in it", "x".repeat(257)],
        TILL_DATABASE_POOL_MAX: ["1", "501"],
        DATABASE_URL: ["mysql://x/y", "till", "http://x"],
        TILL_TRON_CONFIRMATIONS: ["0", "10001", "x"],
        TILL_TRON_POLL_MS: ["9", "fast"],
        TILL_TRON_RPC_URLS: ["ws://x", "node", "https://user:pass@node"],
        TILL_TRON_RPC_HEADERS: ["KEY", "[]", '"x"', '{"a b":"c"}', '{"a":1}', '{"Host":"x"}', "{"],
      };
      for (const [name, values] of Object.entries(wrong)) {
        for (const value of values) {
          const env = { TILL_SECRET: secret, [name]: value };
          const told = await problems({ env });
          expect(told, `${name}=${value}`).to.have.length(1);
          expect(told[0], `${name}=${value}`).to.match(new RegExp(`^${name} (must|names|gives)`));
        }
      }
    });
  });

  describe("the secret", () => {
    it("has at least 32 bytes and is given once, in a variable or a file", async () => {
      expect((await load({ env: { TILL_SECRET: secret } })).config.secret).to.equal(secret);
      const umlauts = "ä".repeat(16);
      expect((await load({ env: { TILL_SECRET: umlauts } })).config.secret).to.equal(umlauts);
      const file = write("secret", `${secret}\r\n`);
      expect((await load({ env: { TILL_SECRET_FILE: file } })).config.secret).to.equal(secret);

      // A file may hold any bytes.
      write("bytes", Buffer.alloc(32, 0xff));
      expect((await load({ env: { TILL_SECRET_FILE: "bytes" } })).config.secret).to.equal(
        "\ufffd".repeat(32),
      );

      const short = secret.slice(1);
      expect(await problems({ env: { TILL_SECRET: short } })).to.deep.equal([
        "TILL_SECRET must be text of at least 32 bytes",
      ]);
      write("secret", short);
      expect(await problems({ env: { TILL_SECRET_FILE: file } })).to.deep.equal([
        "TILL_SECRET_FILE names a file that is too short: a secret has at least 32 bytes",
      ]);
      expect(await problems({ env: { TILL_SECRET_FILE: "nowhere" } })).to.deep.equal([
        "TILL_SECRET_FILE cannot be read: the file does not exist",
      ]);
      expect(await problems({ env: { TILL_SECRET_FILE: "." } })).to.deep.equal([
        "TILL_SECRET_FILE cannot be read: it is a folder",
      ]);
      expect(
        await problems({ env: { TILL_SECRET: secret, TILL_SECRET_FILE: file } }),
      ).to.deep.equal(["TILL_SECRET_FILE and TILL_SECRET are both set: keep one of them"]);
    });

    it("must be given if processes share a store", async () => {
      const DATABASE_URL = "postgres://till:hunter22@db.internal/till";
      const told = await problems({ env: { DATABASE_URL } });
      expect(told).to.have.length(1);
      expect(told[0]).to.match(/^TILL_SECRET or TILL_SECRET_FILE must be set/);
      const { config } = await load({ env: { DATABASE_URL, TILL_SECRET: secret } });
      expect(config.databaseUrl).to.equal(DATABASE_URL);
    });

    it("is never displayed, like any other secret", async () => {
      const env = {
        TILL_SECRET: secret,
        TILL_METRICS_TOKEN: "metrics-hunter22",
        DATABASE_URL: "postgres://till:hunter22@db.internal/till?password=hunter22",
        TILL_TRON_RPC_URLS: "https://rpc.example.com/v3/hunter22hunter22?key=hunter22",
        TILL_TRON_RPC_HEADERS: '{"KEY":"hunter22","rpc.example.com":{"OTHER":"hunter22"}}',
      };
      const { config, settings } = await load({ env });
      const shown = JSON.stringify(settings);
      expect(shown).not.to.match(/hunter22|0123456789/);
      const values = Object.fromEntries(settings.map(({ name, value }) => [name, value]));
      expect(values).to.include({
        TILL_SECRET: "********",
        TILL_METRICS_TOKEN: "********",
        DATABASE_URL: "postgres://till:********@db.internal/till?password=********",
        TILL_TRON_RPC_URLS: "https://rpc.example.com/v3/********?key=********",
        TILL_TRON_RPC_HEADERS: '{"KEY":"********","rpc.example.com":{"OTHER":"********"}}',
      });
      expect(config.networks[0]?.endpoints[0]?.headers).to.deep.equal({
        KEY: "hunter22",
        OTHER: "hunter22",
      });
      for (const name of Object.keys(env)) {
        const told = await problems({ env: { TILL_SECRET: secret, [name]: "\0hunter22" } });
        expect(told.join(""), name).to.include(name).and.not.include("hunter22");
      }
    });

    it("may be missing in the demo, which ignores DATABASE_URL", async () => {
      const env = { DATABASE_URL: "postgres://till:hunter22@db.internal/till" };
      const { config } = await load({ mode: "demo", env });
      expect(config.databaseUrl).to.equal(null);
    });
  });

  describe("networks", () => {
    const endpoints = async (env: Record<string, string>) =>
      (await load({ env })).config.networks[0]?.endpoints;

    it("have the providers, confirmations and poll interval of the table", async () => {
      const { config } = await load();
      expect(config.networks[0]).to.include({ confirmations: 19, pollMs: 3_000 });
      expect(config.networks[0]?.endpoints).to.deep.equal([
        {
          url: "https://api.trongrid.io/jsonrpc",
          headers: {},
          batchMax: 100,
          requestsPerSecond: 15,
          requestsPerDay: 100_000,
        },
        {
          url: "https://tron-evm-rpc.publicnode.com",
          headers: {},
          batchMax: 100,
          requestsPerSecond: 25,
          requestsPerDay: null,
        },
      ]);
    });

    it("have those of the settings if given, in order", async () => {
      const env = {
        TILL_TRON_RPC_URLS: "http://127.0.0.1:1/a, https://b.example/jsonrpc",
        TILL_TRON_RPC_HEADERS: '{"KEY":"k","b.example":{"B":"b"},"http://127.0.0.1:1/a":{"A":"a"}}',
        TILL_TRON_CONFIRMATIONS: "5",
        TILL_TRON_POLL_MS: "50",
      };
      const { config } = await load({ env });
      expect(config.networks[0]).to.include({ confirmations: 5, pollMs: 50 });
      const limits = { batchMax: 100, requestsPerSecond: 200, requestsPerDay: null };
      expect(config.networks[0]?.endpoints).to.deep.equal([
        { url: "http://127.0.0.1:1/a", headers: { KEY: "k", A: "a" }, ...limits },
        { url: "https://b.example/jsonrpc", headers: { KEY: "k", B: "b" }, ...limits },
      ]);
      const yaml = `
tron:
  rpcUrls: ["http://127.0.0.1:1/a"]
  rpcHeaders: { KEY: k }
  confirmations: 6
sandbox:
  pollMs: 10`;
      write("data/till.yaml", yaml);
      const fromFile = (await load({ env: { TILL_TRON_CONFIRMATIONS: "7" } })).config.networks[0];
      expect(fromFile?.confirmations).to.equal(7);
      expect(fromFile?.endpoints[0]?.headers).to.deep.equal({ KEY: "k" });
    });

    it("send each header to the providers that accept it, and refuse one that none accepts", async () => {
      const TILL_TRON_RPC_HEADERS = '{"tron-pro-api-key":"k"}';
      const [first, second] = (await endpoints({ TILL_TRON_RPC_HEADERS })) ?? [];
      expect(first?.headers).to.deep.equal({ "tron-pro-api-key": "k" });
      expect(second?.headers).to.deep.equal({});
      const foreign = { TILL_TRON_RPC_HEADERS: '{"OTHER-KEY":"k"}' };
      expect(await problems({ env: foreign })).to.deep.equal([
        "TILL_TRON_RPC_HEADERS sets OTHER-KEY, which no provider in the network table accepts",
      ]);
      const stranger = { TILL_TRON_RPC_HEADERS: '{"api.trongird.io":{"KEY":"k"}}' };
      expect((await problems({ env: stranger }))[0]).to.match(
        /not one of api.trongrid.io, tron-evm-rpc.publicnode.com$/,
      );
    });

    it("must be in the table", async () => {
      expect(await problems({ env: { TILL_NETWORKS: "etherium,tron,litecoin" } })).to.deep.equal([
        "TILL_NETWORKS names etherium, which is not in the network table; did you mean ethereum?",
        "TILL_NETWORKS names litecoin, which is not in the network table",
      ]);
    });

    it("of the sandbox and real ones are combined only if explicitly allowed", async () => {
      const TILL_NETWORKS = "tron,sandbox";
      expect((await problems({ env: { TILL_NETWORKS } }))[0]).to.match(/TILL_SANDBOX_MIXED=1$/);
      const env = { TILL_NETWORKS, TILL_SANDBOX_MIXED: "1", TILL_SANDBOX_BLOCK_MS: "250" };
      const [, sandbox] = (await load({ env })).config.networks;
      expect(sandbox).to.include({ id: "sandbox", blockTimeMs: 250 });
      const onCommand = { TILL_NETWORKS: "sandbox", TILL_SANDBOX_BLOCK_MS: "0" };
      const { config } = await load({ env: onCommand });
      expect(config.sandboxBlockMs).to.equal(0);
      expect(config.networks[0]?.blockTimeMs).to.equal(1_000);
    });

    it("of the demo must include the sandbox", async () => {
      const told = await problems({ mode: "demo", env: { TILL_NETWORKS: "tron" } });
      expect(told[0]).to.match(/^TILL_NETWORKS must include sandbox/);
    });

    it("come from the operator's own table if one is configured", async () => {
      const path = write("networks.yaml", "networks:\n  tron: 1\n");
      const wrong = await problems({ env: { TILL_NETWORKS_FILE: path, TILL_BSC_POLL_MS: "500" } });
      expect(wrong).to.have.length(1);
      expect(wrong[0]).to.match(new RegExp(`^networks.tron in ${path}:2 must be a mapping$`));
      const missing = await problems({ env: { TILL_NETWORKS_FILE: "none.yaml" } });
      expect(missing).to.deep.equal([
        `${join(cwd, "none.yaml")} cannot be read: the file does not exist`,
      ]);
    });
  });

  describe("an unknown setting", () => {
    it("is reported among the variables, with a suggestion", async () => {
      const env = {
        TILL_REGISTRATON: "closed",
        TILL_PROT: "1",
        TILL_TRON_RPC_URL: "https://x",
        TILL_SANDBOX_RPC_URLS: "https://x",
        TILL_ABCXYZ: "1",
        TILL_SERVICE_HOST: "10.0.0.1",
        TILL_PORT_8080_TCP_ADDR: "10.0.0.1",
        TILLY: "1",
        PORT: "1",
      };
      expect(await problems({ env })).to.deep.equal([
        "TILL_REGISTRATON is not a setting; did you mean TILL_REGISTRATION?",
        "TILL_PROT is not a setting; did you mean TILL_PORT?",
        "TILL_TRON_RPC_URL is not a setting; did you mean TILL_TRON_RPC_URLS?",
        "TILL_SANDBOX_RPC_URLS is not a setting",
        "TILL_ABCXYZ is not a setting",
        ...["TILL_SERVICE_HOST", "TILL_PORT_8080_TCP_ADDR"].map(
          (name) =>
            `${name} is not a setting; Kubernetes sets it for a Service named till: set enableServiceLinks to false`,
        ),
      ]);
    });

    it("is reported among the file's entries", async () => {
      const entries = [
        "base_url: https://x",
        "TILL_LOG_LEVEL: info",
        "configFile: x",
        "dataDir: x",
        "trno: {}",
        "tron: { rpcUrl: https://x, pollMs: 2000 }",
        "bsc: fast",
        "polygon:",
        "sandbox: { rpcUrls: [] }",
        "nonsense: 1",
      ];
      const path = write("data/till.yaml", entries.join("\n"));
      const told = (await problems()).map((problem) => problem.replace(` in ${path}`, ""));
      expect(told).to.deep.equal([
        "dataDir cannot be set in a file that lies in the data folder",
        "base_url is not a setting; did you mean baseUrl?",
        "TILL_LOG_LEVEL is not a setting; did you mean logLevel?",
        "configFile is not a setting",
        "trno is not a setting; did you mean tron?",
        "tron.rpcUrl is not a setting of a network; did you mean rpcUrls?",
        "bsc must contain settings of the network: rpcUrls, rpcHeaders, confirmations, pollMs",
        "sandbox.rpcUrls is not a setting of a network",
        "nonsense is not a setting",
      ]);
    });

    it("is reported up to 20 times, with the number of the others", async () => {
      const names = Array.from({ length: 50_000 }, (_, n) => `nonsense${String(n)}: 1\n`);
      const path = write("data/till.yaml", `${names.join("")}tron: { a: 1 }\n`);
      const told = await problems();
      expect(told).to.have.length(21);
      expect(told.slice(-2)).to.deep.equal([
        `nonsense19 in ${path} is not a setting`,
        `${path} has 49981 more problems`,
      ]);
    });

    it("is found even if its name is that of an object prototype's property", async () => {
      write("data/till.yaml", "constructor: 1\n__proto__: { port: 1 }\n");
      expect(await problems()).to.have.length(2);
    });
  });

  describe("files", () => {
    it("that cannot be read or parsed are reported by name", async () => {
      const path = join(cwd, "data/till.yaml");
      const cases: (readonly [string, RegExp])[] = [
        ["port: [1", /^\S+ is not valid YAML: .+ at line 1, column 9/],
        ["port: 1\nport: 2", /^\S+ is not valid YAML: .*unique/],
        ["- port", /^\S+ must hold settings such as/],
        ["8080", /^\S+ must hold settings such as/],
        [`x: ${"y".repeat(1_048_577)}`, /^\S+ is larger than 1 MiB$/],
        ["port: { a: 1 }", /^port in \S+ must be a whole number/],
        ["networks: [[tron]]", /^networks in \S+ must be a network's id/],
      ];
      for (const [text, expected] of cases) {
        write("data/till.yaml", text);
        const told = await problems();
        expect(told, text.slice(0, 40)).to.have.length(1);
        expect(told[0]).to.match(expected).and.include(path);
      }
      write("data/till.yaml", "# nothing\n");
      expect((await load()).config.configFile).to.equal(path);
      expect(await problems({ flags: { config: "no.yaml" } })).to.deep.equal([
        "--config cannot be read: the file does not exist",
      ]);
      expect(await problems({ flags: { config: "data" } })).to.deep.equal([
        "--config cannot be read: it is a folder",
      ]);
      expect(await problems({ env: { TILL_PLANS_FILE: "no.yaml" } })).to.deep.equal([
        "TILL_PLANS_FILE cannot be read: the file does not exist",
      ]);
    });

    it("that are not UTF-8 text are refused; a byte order mark is accepted", async () => {
      const latin = Buffer.from("# Für Kunden\nport: 8081\n", "latin1");
      const path = write("data/till.yaml", latin);
      const said = "is not UTF-8 text: save it as UTF-8";
      expect(await problems()).to.deep.equal([`${path} ${said}`]);
      write("data/till.yaml", Buffer.from("\ufeffport: 8081\n", "utf16le"));
      expect(await problems()).to.deep.equal([`${path} ${said}`]);
      write("data/till.yaml", "\ufeff# Für Kunden\nport: 8081\n");
      expect((await load()).config.port).to.equal(8081);
      const table = write("table.yaml", latin);
      for (const name of ["TILL_NETWORKS_FILE", "TILL_RATES_FILE"]) {
        expect(await problems({ env: { [name]: table } }), name).to.deep.equal([
          `${table} ${said}`,
        ]);
      }
      expect(await problems({ env: { TILL_PLANS_FILE: table } })).to.deep.equal([
        `TILL_PLANS_FILE ${said}`,
      ]);
    });

    it("that use an alias of nothing are refused with its name and line", async () => {
      write("data/till.yaml", "port: 1\nhost: *any\n");
      expect((await problems())[0]).to.match(
        /uses the alias \*any, but nothing before it is named &any: .+ at line 2, column 7$/,
      );
      write("data/till.yaml", "a: &port 8081\nport: *port\n");
      expect((await problems())[0]).to.match(/^a in \S+ is not a setting/);
    });

    it("that others can write are refused, and say what to do", async () => {
      const path = write("data/till.yaml", "port: 1\n");
      chmodSync(path, 0o666);
      expect(await problems()).to.deep.equal([
        `${path} can be written by every user of this machine and is not read: chmod go-w ${path}`,
      ]);
      expect((await problems({ flags: { config: "data/till.yaml" } }))[0]).to.match(
        /^--config can/,
      );
      chmodSync(path, 0o660);
      expect(await problems(), "the own group").to.deep.equal([]);
      if (process.getuid?.() === 0) {
        chownSync(path, 0, 54_321);
        expect((await problems())[0]).to.include("the group 54321");
      }
      chmodSync(path, 0o644);
      expect((await load()).config.port).to.equal(1);
    });

    it("that expand without limit are refused", async () => {
      const layers = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
      for (let n = 1; n < 8; n += 1) {
        const alias = `*a${String(n - 1)}`;
        layers.push(`a${String(n)}: &a${String(n)} [${Array(10).fill(alias).join(", ")}]`);
      }
      write("data/till.yaml", layers.join("\n"));
      expect((await problems())[0]).to.match(/uses too many YAML aliases$/);
    });
  });

  describe("the data folder", () => {
    it("is reported if it is not writable, also if it does not exist yet", async () => {
      const isWritable = () => Promise.resolve(false);
      const data = join(cwd, "data");
      expect(await problems({ isWritable })).to.deep.equal([
        `TILL_DATA_DIR cannot be used: ${cwd}, in which ${data} would be created, is not writable: give this user write access, or choose another folder`,
      ]);
      mkdirSync(data);
      expect((await problems({ isWritable, flags: { dataDir: "data" } }))[0]).to.match(
        /^--data-dir cannot be used: \S+data is not writable/,
      );
      expect(await problems({ isWritable: (path) => Promise.resolve(path === data) })).to.be.empty;
    });

    it("must not be a file or below a file", async () => {
      const file = write("file", "");
      for (const dataDir of ["file", "file/data"]) {
        expect(await problems({ flags: { dataDir } })).to.deep.equal([
          `--data-dir cannot be used: ${file} is a file, not a folder`,
        ]);
      }
    });

    it("is not checked for commands or with PostgreSQL", async () => {
      const isWritable = () => Promise.resolve(false);
      const env = { DATABASE_URL: "postgres://till@db/till", TILL_SECRET: secret };
      expect(await problems({ isWritable, env })).to.be.empty;
      expect(await problems({ isWritable, mode: "cli" })).to.be.empty;
    });
  });

  it("reports all problems at once, and shows the settings that could be read", async () => {
    write("data/till.yaml", "prot: 1\nhost: a b\n");
    const env = { TILL_PORT: "x", TILL_SECRET: "short", TILL_LOG_LEVEL: "debug", TILL_X: "1" };
    try {
      await load({ env, flags: { billing: "yes" } });
      expect.fail("it loaded");
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      expect(error.problems).to.have.length(6);
      expect(error.message.split("\n")).to.have.length(7);
      expect(error.message).to.match(/^Some settings are invalid:\n {2}TILL_SECRET must be/);
      const levels = error.settings.filter(({ name }) => name === "TILL_LOG_LEVEL");
      expect(levels.map(({ value }) => value)).to.deep.equal(["debug"]);
      const ports = error.settings.filter(({ name }) => name === "TILL_PORT");
      expect(ports.map(({ value }) => value)).to.deep.equal(["(invalid)"]);
    }
  });
});
