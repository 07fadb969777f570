// Runs `till __complete` as the scripts of `till completion` do, and those scripts.
import { spawnSync } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { listAllOrganizations } from "../../../src/features/admin/organizations.ts";
import { addOrganization } from "../../../src/features/organizations/organizations.ts";
import { shells } from "../../../src/cli/command-words.ts";
import {
  findKnown,
  idsThatBegin,
  similar,
  storedKinds,
} from "../../../src/cli/known/known-values.ts";
import { takesOf } from "../../../src/cli/known/takes.ts";
import { makeProgram } from "../../../src/cli/program.ts";
import { createApp, type Program } from "../../../src/compose/app.ts";
import { createWallet } from "../../../src/features/wallets/wallets.ts";
import { idPrefixes, type Id, type IdKind } from "../../../src/kernel/id.ts";
import { loadConfig } from "../../../src/platform/config/load.ts";
import { silentLogger } from "../../../src/platform/logger/index.ts";
import { builtProgram } from "../../support/programs/built.ts";
import { makeInstallation, type Installation } from "../../support/programs/program.ts";
import { password, till, useFolders } from "../../support/programs/till.ts";
import { eachStore, takeTurns } from "../../support/store/stores.ts";
import { context } from "../billing-operator.ts";

const account = ["--admin-email", "ada@example.com", "--admin-name", "Ada", "--password-stdin"];
/** Names that a shell would run, expand, split or hide. */
const hostile = [
  "$(touch pwned)",
  "`touch pwned`",
  "a;touch pwned",
  'Nook\'s "Bar" & Söhne',
  "back\\slash",
  "bang!x",
  "{a,b} *",
  "~",
  "#1",
];
/** Names that nobody can type, which are offered by id. */
const untypable = ["two\nlines", "tab\tstop", "\u001b[31mred", "--dash", "Twin", "TWIN"];
const breaks = " \t\n\"'@><=;|&(:";

eachStore("completion", (store) => {
  const onOne = takeTurns(store);
  let installation: Installation;
  let ids: Map<string, Id<"organization">>;
  let walletId: string;
  const folders = useFolders();

  before(async () => {
    const place = await store.place("migrated");
    installation = await makeInstallation({ TILL_NETWORKS: "sandbox" }, place);
    const made = await till(["init", ...account, "--organization", "Shop"], {
      env: installation.env,
      stdin: password,
    });
    expect(made.code, made.stderr).to.equal(0);
    await withApp(async (app) => {
      const { data } = await listAllOrganizations(app, {});
      ids = new Map(data.map(({ organization: { id, name } }) => [name, id]));
      await app.db.write(context, async (tx) => {
        for (const name of [...hostile, ...untypable]) {
          const added = await addOrganization(tx, app, app.clock.now(), { name, ownerId: null });
          ids.set(name, added.id);
        }
      });
      const wallet = { label: "Counter", network: "sandbox", address: `0x${"ab".repeat(20)}` };
      walletId = (await createWallet(app, context, idOf("Shop"), wallet)).id;
    });
  });
  after(() => installation.remove());

  const idOf = (name: string) => ids.get(name) as Id<"organization">;

  async function withApp(work: (app: Program) => Promise<void>): Promise<void> {
    const { config } = await loadConfig({ mode: "cli", env: installation.env });
    const app = await createApp(config, "use", { logger: silentLogger });
    try {
      await work(app);
    } finally {
      await app.close();
    }
  }

  /** The values that fish is offered after some words, with their descriptions. */
  async function offered(
    words: readonly string[],
    env: Readonly<Record<string, string>> = installation.env,
  ): Promise<string[]> {
    const { code, stdout, stderr } = await till(["__complete", "fish", ...words], { env });
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: "" });
    return stdout.split("\n").slice(1, -1);
  }

  /** The message with which a command is refused. */
  async function refused(words: readonly string[], expected: number): Promise<string> {
    const { code, stderr } = await till(words, { env: installation.env });
    expect(code, stderr).to.equal(expected);
    return stderr.replace(/^Organization: .*\n/, "");
  }

  const valuesOf = (lines: readonly string[]) => lines.map((line) => line.split("\t")[0]);

  onOne(
    "offers commands, flags that were not given, choices, files, and entries of the settings",
    async () => {
      expect(valuesOf(await offered(["o"]))).to.deep.equal(["ops", "org"]);
      expect(await offered(["org", "app"])).to.deep.equal([
        "approve\tApprove an organization that awaits its review",
      ]);
      const flags = valuesOf(await offered(["invoice", "list", "--status", "open", "--"]));
      expect(flags).to.include("--sort").and.include("--json").and.not.include("--status");
      expect(valuesOf(await offered(["invoice", "list", "--status=open,p"]))).to.deep.equal([
        "--status=open,partially_paid",
        "--status=open,paid",
      ]);
      expect(await offered(["serve", "--log-level", "de"])).to.deep.equal(["debug"]);
      expect(await offered(["wallet", "add", "--network", ""])).to.deep.equal(["sandbox\tSandbox"]);
      expect(await offered(["invoice", "create", "--token-symbol", "USDT"])).to.deep.equal([
        "USDT",
      ]);
      expect(await offered(["help", "org", "app"])).to.have.length(1);
      const { stdout } = await till(["__complete", "fish", "backup", ""]);
      expect(stdout).to.equal("files\n");
    },
  );

  it("offers objects of the store by id, with the names by which people know them", async () => {
    const line = `${walletId}\tCounter, sandbox, active`;
    expect(await offered(["wallet", "release", ""])).to.deep.equal([line]);
    const shop = ["--organization", "shop", "--wallet-id", walletId.slice(0, 9)];
    expect(await offered(["invoice", "list", ...shop])).to.deep.equal([line]);
    const other = ["--organization", idOf("~"), "--wallet-id", ""];
    expect(await offered(["invoice", "list", ...other])).to.deep.equal([]);
    expect(await offered(["wallet", "release", "inv_"])).to.deep.equal([]);
    expect(valuesOf(await offered(["user", "reset-password", "a"]))).to.deep.equal([
      "ada@example.com",
    ]);
  });

  it("offers organizations by name, and by id those whose name nobody can type", async () => {
    const values = valuesOf(await offered(["org", "show", ""]));
    expect(values).to.have.members(["Shop", ...hostile, ...untypable.map(idOf)]);
    expect(valuesOf(await offered(["org", "show", "sho"]))).to.deep.equal(["Shop"]);
    expect(valuesOf(await offered(["org", "show", idOf("Twin")]))).to.deep.equal([idOf("Twin")]);
  });

  it("reads every kind of object that a command takes", async () => {
    await withApp(async ({ db }) => {
      for (const kind of Object.keys(storedKinds) as IdKind[]) {
        const prefix = `${idPrefixes[kind]}_`;
        for (const owner of [null, idOf("Shop")]) {
          const found = await idsThatBegin(db, kind, prefix, owner, 2);
          for (const { value } of found) expect(value).to.match(new RegExp(`^${prefix}`));
          for (const wrong of ["Countr", `${prefix}01`, prefix])
            await similar(db, kind, wrong, owner);
        }
        expect(await findKnown(db, kind, `${prefix}${"0".repeat(26)}`), kind).to.equal(null);
      }
      // The oldest one follows the newest two, so that the shell inserts only what all have in common.
      const some = await idsThatBegin(db, "organization", "org_", null, 2);
      const all = [...ids.values()].sort();
      expect(some.map(({ value }) => value)).to.deep.equal([all.at(-1), all.at(-2), all[0]]);
    });
  });

  onOne("inserts names into a line of Bash so that it takes them as they are", async () => {
    const folder = await folders.make();
    const script = (await till(["completion", "bash"])).stdout;
    const begun = ["", "$", "'$", '"Nook', "Nook\\'", "ba"];
    const { status, stdout, stderr } = spawnSync(
      "bash",
      ["--noprofile", "--norc", "-c", harness, "bash", builtProgram(), script, ...begun],
      {
        cwd: folder,
        encoding: "utf8",
        env: { PATH: process.env["PATH"] ?? "", HOME: folder, ...installation.env },
      },
    );
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: "" });
    const [all = "", ...others] = stdout.split("\u0002").slice(1);
    const taken = all.split("\u0001").slice(0, -1);
    expect(taken).to.have.members(["Shop", ...hostile, ...untypable.map(idOf)]);
    expect(others).to.deep.equal([
      "",
      "$(touch pwned)\u0001",
      'Nook\'s "Bar" & Söhne\u0001',
      'Nook\'s "Bar" & Söhne\u0001',
      "back\\slash\u0001bang!x\u0001",
    ]);
    expect(await readdir(folder)).to.not.include("pwned");
  });

  it("suggests the ids and names that are near a wrong one, and names its kind", async () => {
    const found = `${walletId} (Counter, sandbox, active)`;
    const later = walletId.replace(/..$/, (end) => (end === "00" ? "11" : "00"));
    for (const wrong of ["Countr", walletId.slice(0, 12), walletId.toUpperCase(), later]) {
      expect(await refused(["wallet", "release", wrong, "--yes"], 5)).to.equal(
        `Not found. No wallet has the id "${wrong}". Did you mean ${found}?\n`,
      );
    }
    const strange = "wal_01kq3v5m8w2f6n9r4t7x0z1c3e";
    expect(await refused(["wallet", "release", strange, "--yes"], 5)).to.include("Check it");
    expect(await refused(["invoice", "show", walletId], 5)).to.equal(
      `Not found. "${walletId}" is the id of a wallet, not of an invoice.\n`,
    );
    const list = ["invoice", "list", "--organization", "Shop", "--wallet-id"];
    expect(await refused([...list, "Countr"], 2))
      .to.include("  --wallet-id must be an id that starts with wal_. No wallet has")
      .and.include(`Did you mean ${found}?`);
    expect(await refused(["org", "show", "Shpo"], 5)).to.include(`  Shop (${idOf("Shop")})`);
    expect(await refused(["org", "show", walletId], 5)).to.include("It is the id of a wallet.");
    const reset = ["user", "reset-password", "ad@example.com", "--yes"];
    expect(await refused(reset, 5)).to.include("Did you mean ada@example.com (usr_");
    expect(await refused(["help", "invioce"], 2)).to.include("Did you mean invoice?");
    const { stderr } = await till(["invoice", "show", walletId, "--json"], {
      env: installation.env,
    });
    expect(JSON.parse(stderr)).to.include({ code: "not_found", status: 404 });
  });

  onOne("names the flags and arguments of the command where the API names its fields", async () => {
    const shop = ["--organization", "Shop", "--yes"];
    const adjust = ["billing", "adjust", "--amount", "1.00", "--currency", "USD", "--reason", ""];
    expect(await refused([...adjust, ...shop], 2)).to.include("  --reason must not be empty");
    const credit = ["billing", "credit", "much", "--currency", "USD", "--reason", "Thanks"];
    expect(await refused([...credit, ...shop], 2)).to.include("  <amount> must be");
    const receive = ["billing", "receive-wallet", "--token", "USDT", "--wallet", "Shop", "--yes"];
    expect(await refused(receive, 2)).to.include("  --wallet must be an id");
    expect(
      await refused(["payments", "list", "--paid-from", "2031-01-01T00:00:00Z"], 2),
    ).to.include("Give --organization with an id or a name");
    expect(await refused(["payments", "list", "--sort", "-blockTime"], 2)).to.include(
      "Give --organization with an id or a name",
    );
    const both = ["wallet", "add", "--network", "sandbox", "--label", "X", ...shop];
    expect(await refused(both, 2)).to.include(
      "  --address, --xpub: give either --address or --xpub\n",
    );
    const metadata = ["invoice", "list", "--metadata-key", "a", "--organization", "Shop"];
    expect(await refused(metadata, 2)).to.include("send --metadata-key and --metadata-value");
  });

  onOne("offers exactly the choices that commands accept", async () => {
    const program = await makeProgram(["help"], () => Promise.reject(new Error("unused")), []);
    let compared = 0;
    for (const verb of program.commands.flatMap(({ commands }) => commands)) {
      const noun = verb.parent?.name() ?? "";
      for (const option of verb.options) {
        const words = [noun, verb.name(), option.long ?? ""];
        const { choices, isList } = takesOf(option);
        const isFew = /<(status|rule|role|order|length|state)>/.test(option.flags) || isList;
        if (isFew) expect(choices, words.join(" ")).not.to.equal(null);
        const isLight = !verb.options.some(({ long, description }) =>
          `${long ?? ""}${description}`.match(/^--dry-run|\(required\)$/),
        );
        // Webhooks have choices that need other flags, and so has the rehearsal of payments.
        const needsMore = noun === "webhook" || option.long === "--payments";
        if (choices === null || !isLight || needsMore) continue;
        const named = verb.options.some(({ long }) => long === "--organization");
        const shop = named ? ["--organization", "Shop"] : [];
        const message = await refused([noun, verb.name(), ...shop, `${words[2] ?? ""}=none`], 2);
        const said = / must be (?:one or more of )?([^\n]*?)(?:, separated by commas)?\n/.exec(
          message,
        );
        expect((said?.[1] ?? message).replaceAll('"', "").split(/, | or /)).to.deep.equal([
          ...choices,
        ]);
        compared += 1;
      }
    }
    expect(compared).to.be.above(10);
  });

  it("offers nothing and says nothing where the store cannot be read", async () => {
    const folder = join(await folders.make(), "none");
    expect(await offered(["wallet", "release", ""], { TILL_DATA_DIR: folder })).to.deep.equal([]);
    await till(["__complete", "bash", "9", breaks, "till wallet release "], {
      env: { TILL_DATA_DIR: folder },
    });
    expect(await readdir(join(folder, ".."))).to.deep.equal([]);
    const wrong = { ...installation.env, TILL_NONSENSE: "1" };
    expect(await offered(["wallet", "release", ""], wrong)).to.deep.equal([]);
    expect(await offered(["nonsense", ""])).to.deep.equal([]);
    expect((await till(["__complete"])).stdout).to.equal("");
    expect((await till(["__complete", "tcsh", "org"])).stdout).to.equal("");
    // A newer program has migrated the store.
    const newer = "(version, name, applied_at) VALUES (9999, 'newer', 0)";
    await withApp(async ({ db }) => {
      await db.write(context, (tx) => tx.run(`INSERT INTO schema_versions ${newer}`));
      expect(await offered(["wallet", "release", ""])).to.deep.equal([]);
      expect(valuesOf(await offered(["org", "app"]))).to.deep.equal(["approve"]);
      await db.write(context, (tx) => tx.run("DELETE FROM schema_versions WHERE version = 9999"));
    });
  });
});

/** Completes some words after `till org show`, and prints every answer as Bash takes it when the line is run. */
const harness = `
till=$1 script=$2; shift 2
source /dev/stdin <<<"$script"
COMP_TYPE=9 COMP_WORDBREAKS=$' \\t\\n"\\'@><=;|&(:'
for word; do
  COMP_LINE="till org show $word" COMP_POINT=200
  _till_complete "$till"
  printf '\\002'
  for reply in "\${COMPREPLY[@]}"; do
    quote=\${word:0:1}
    [[ $quote == [\\'\\"] ]] || quote=
    eval "set -- $quote$reply$quote"
    printf '%s\\001' "$1"
  done
done
`;

describe("the scripts of till completion", () => {
  it("come with the way to install them, and evaluate nothing", async () => {
    for (const shell of shells) {
      const { code, stdout } = await till(["completion", shell]);
      expect(code).to.equal(0);
      expect(stdout).to.include(`till completion ${shell}`).and.include(`__complete ${shell}`);
      expect(stdout).not.to.match(/\beval\b/);
    }
    const unknown = await till(["completion", "tcsh"]);
    expect(unknown.code).to.equal(2);
    expect(unknown.stderr).to.include("bash, zsh, fish");
  });
});
