import { expect } from "chai";
import { addOrganization } from "../../../src/features/organizations/organizations.ts";
import { createApp } from "../../../src/compose/app.ts";
import type { Id } from "../../../src/kernel/id.ts";
import { loadConfig } from "../../../src/platform/config/load.ts";
import { silentLogger } from "../../../src/platform/logger/index.ts";
import { makeInstallation, type Installation } from "../../support/programs/program.ts";
import { eachStore } from "../../support/store/stores.ts";
import { till } from "../../support/programs/till.ts";
import { context } from "../billing-operator.ts";

const account = ["--admin-email", "ada@example.com", "--admin-name", "Ada", "--password-stdin"];

eachStore("the organization of a command", (store) => {
  let installation: Installation;

  beforeEach(async () => {
    installation = await makeInstallation({}, await store.place("migrated"));
    const made = await run(
      ["init", ...account, "--organization", "Corner Shop"],
      "a long password 7",
    );
    expect(made.code, made.stderr).to.equal(0);
  });
  afterEach(() => installation.remove());

  function run(words: readonly string[], stdin = "", more: Readonly<Record<string, string>> = {}) {
    return till(words, { env: { ...installation.env, ...more }, stdin });
  }

  async function add(...names: readonly string[]): Promise<Id<"organization">[]> {
    const { config } = await loadConfig({ mode: "cli", env: installation.env });
    const app = await createApp(config, "use", { logger: silentLogger });
    try {
      return await app.db.write(context, async (tx) => {
        const ids: Id<"organization">[] = [];
        for (const name of names) {
          const at = app.clock.now();
          ids.push((await addOrganization(tx, app, at, { name, ownerId: null })).id);
        }
        return ids;
      });
    } finally {
      await app.close();
    }
  }

  const makeKey = ["key", "create", "--name", "till", "--scopes", "read"];

  /** The name of the organization that a write says it works on. */
  async function written(words: readonly string[], more: Readonly<Record<string, string>> = {}) {
    const { code, stderr } = await run([...makeKey, ...words], "", more);
    expect(code, stderr).to.equal(0);
    return /^Organization: (.*) \(org_/m.exec(stderr)?.[1];
  }

  it("is the only one of the store, or the one that the flag or TILL_ORGANIZATION names", async () => {
    expect(await written([])).to.equal("Corner Shop");
    const read = await run(["key", "list"]);
    expect(read.code, read.stderr).to.equal(0);
    expect(read.stderr).not.to.include("Organization:");
    const [nook] = await add("Nook");
    const byName = { TILL_ORGANIZATION: "nook" };
    expect(await written([], byName)).to.equal("Nook");
    expect(await written([], { TILL_ORGANIZATION: nook ?? "" })).to.equal("Nook");
    expect(await written(["--organization", "CORNER shop"], byName)).to.equal("Corner Shop");
    const listed = await run(["payments", "list", "--organization", "Nook"]);
    expect(listed.code, listed.stderr).to.equal(0);
  });

  it("must be named if there are several: the error lists ten of them with their ids", async () => {
    const [nook] = await add("Nook");
    const few = await run(makeKey);
    expect(few.code).to.equal(2);
    expect(few.stderr).to.include("--organization").and.include("TILL_ORGANIZATION");
    expect(few.stderr).to.include(`  Nook (${nook ?? ""})\n  Corner Shop (org_`);
    // Without an organization, a list that can do without one shows all.
    expect((await run(["payments", "list"])).code).to.equal(0);
    await add(...Array.from({ length: 11 }, (_, place) => `Kiosk ${String(place)}`));
    const many = await run(makeKey);
    expect(many.stderr.match(/ {2}Kiosk \d+ \(org_/g)).to.have.length(10);
    expect(many.stderr).to.include("till org list").and.not.include("Nook");
  });

  it("says whose invoice an externalId names, and is asked for if several have one", async () => {
    const [nook, kiosk] = await add("Nook", "Kiosk");
    const issue = async (organization: string, externalId: string) => {
      const words = ["invoice", "create", "--draft", "--amount=1.00", "--settlement-currency=USD"];
      const more = ["--token-symbol=USDT", "--network=tron", `--external-id=${externalId}`];
      const made = await run([...words, ...more, "--organization", organization, "--json"]);
      expect(made.code, made.stderr).to.equal(0);
      return (JSON.parse(made.stdout) as { id: string }).id;
    };
    const [first, second] = [await issue(nook ?? "", "A 7"), await issue(kiosk ?? "", "A 7")];
    const alone = await issue(kiosk ?? "", "B");
    const show = async (text: string, more: Readonly<Record<string, string>> = {}) => {
      const { code, stdout, stderr } = await run(["invoice", "show", text, "-q"], "", more);
      return code === 0 ? stdout.trim() : `${String(code)} ${stderr}`;
    };
    expect(await show("B")).to.equal(alone);
    expect(await show("A 7", { TILL_ORGANIZATION: "Kiosk" })).to.equal(second);
    expect(await show(first, { TILL_ORGANIZATION: "Kiosk" })).to.equal(first);
    expect(await show("B", { TILL_ORGANIZATION: "Nook" })).to.match(/^5 /);
    // Another case is another externalId.
    expect(await show("a 7")).to.match(/^5 /);
    const ambiguous = await show("A 7");
    expect(ambiguous).to.match(/^2 /).and.include(`${first} of Nook`).and.include(second);
    const payments = ["payments", "list", "--invoice-id", "B", "--json"];
    expect((await run(payments)).stdout).to.include('"data":[]');
    expect((await run(["payments", "list", "--invoice-id", "C"])).code).to.equal(2);
  });

  it("is never guessed from a name that several have, or that none has", async () => {
    const [one, other] = await add("Nook", "nook");
    const ambiguous = await run([...makeKey, "--organization", "Nook"]);
    expect(ambiguous.code).to.equal(2);
    expect(ambiguous.stderr).to.include(one).and.include(other).and.include("Give the id");
    const part = await run([...makeKey, "--organization", "Corner"]);
    expect(part.code).to.equal(5);
    expect(part.stderr).to.include("Did you mean").and.include("Corner Shop (org_");
    const wild = await run([...makeKey], "", { TILL_ORGANIZATION: "%" });
    expect(wild.code).to.equal(5);
    expect(wild.stderr).to.include("till org list").and.not.include("Nook");
  });
});
