// The operator's commands for organizations.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { authenticateKey } from "../../../src/features/api-keys/api-keys.ts";
import { updateOrganization } from "../../../src/features/organizations/organizations.ts";
import { getOrganizationDetail } from "../../../src/features/admin/organizations.ts";
import {
  AdminOrganizationDetailRecord,
  AdminOrganizationListRecord,
  presentOrganizationDetail,
} from "../../../src/features/admin/records.ts";
import { aPng } from "../../support/pictures/pictures.ts";
import { context, makeDesk } from "../billing-operator.ts";

describe("till org", () => {
  const desk = makeDesk();

  it("shows everything needed for a review, as the API does", async () => {
    const store = await desk.store();
    const id = await store.pendingOrganization();
    const shown = await store.json(["org", "show", id]);
    const api = await store.withApp((app) => getOrganizationDetail(app, id));
    expect(AdminOrganizationDetailRecord.parse(shown)).to.deep.equal(
      presentOrganizationDetail(api),
    );
    const { stdout } = await store.till(["org", "show", id]);
    expect(stdout).to.match(/^Verification +pending_review$/m);
    expect(stdout)
      .to.match(/^Reviews$/m)
      .and.to.match(/ submitted +pending_review/);
    expect((await store.till(["org", "show", id, "-q"])).stdout).to.equal(`${id}\n`);
    const own = await store.till(["org", "show", await store.platformId()]);
    expect(own.stdout).to.match(/^mem_\w+ +ada@example\.com +Ada +owner$/m);
  });

  for (const [verb, status] of [
    ["reject", "rejected"],
    ["request-changes", "changes_requested"],
  ] as const) {
    it(`requires a note to ${verb}, asks for confirmation, and needs none for a dry run`, async () => {
      const store = await desk.store();
      const id = await store.pendingOrganization();
      const without = await store.till(["org", verb, id, "--yes"]);
      expect(without.code).to.equal(2);
      expect(without.stderr).to.include("--note");
      const words = ["org", verb, id, "--note", "Where is it?"];
      const unasked = await store.till(words);
      expect(unasked.code).to.equal(2);
      expect(unasked.stderr).to.include("--yes");
      expect(await store.json([...words, "--dry-run"])).to.include({ verificationStatus: status });
      expect(await store.audited(`organization.${status}`)).to.have.length(0);

      const done = await store.json([...words, "--yes"]);
      expect(AdminOrganizationDetailRecord.parse(done)).to.include({
        id,
        verificationStatus: status,
        reviewNote: "Where is it?",
      });
      const [entry] = await store.audited(`organization.${status}`);
      expect(entry).to.include({ actor_type: "operator", organization_id: id });
      expect((await store.till([...words, "--yes"])).code).to.equal(6);
    });
  }

  it("sets the logo and the color from a file, and removes them", async () => {
    const store = await desk.store();
    const id = await store.pendingOrganization();
    const file = join(store.folder, "shop.png");
    await writeFile(file, aPng(64, 64));
    const words = ["org", "brand", id];
    expect((await store.till([...words, "--logo", file])).stderr).to.include("during the review");
    await store.json(["org", "approve", id, "--yes"]);
    const given = [...words, "--accent-color", "#7a1f5c", "--logo", file];
    const { stdout, stderr } = await store.till(given);
    expect(stdout).to.match(/^Requested logo +\/pay\/assets\/logo\.\w+\.png$/m);
    expect(stderr).to.include(`till org approve ${id} shows the new logo`);
    expect(await store.json(["org", "approve", id, "--yes"])).to.include({
      accentColor: "#7a1f5c",
    });
    const dropped = await store.json([...words, "--drop-logo", "--drop-accent-color"]);
    expect(dropped).to.include({ logoPath: null, accentColor: null });
    // The color stays as it is.
    const waiting = await store.json([...words, "--logo", file]);
    expect(waiting).to.include({ accentColor: null, logoPath: null });
    expect(waiting).to.have.property("pendingLogoPath").that.includes("logo.");
    expect((await store.till(words)).stderr).to.include("Nothing to change");
    expect((await store.till([...words, "--logo", `${file}.gone`])).stderr).to.include("ENOENT");
  });

  it("sets the origins of an organization's own pages, or none", async () => {
    const store = await desk.store();
    const words = ["org", "origins", await store.platformId()];
    const list = "https://shop.example, http://localhost:3000/";
    expect(await store.json([...words, "--origins", list])).to.deep.include({
      allowedOrigins: ["https://shop.example", "http://localhost:3000"],
    });
    const refused = await store.till([...words, "--origins", "https://*.shop.example"]);
    expect(refused.code).to.equal(2);
    expect(refused.stderr).to.include("must be an origin such as https://shop.example");
    expect((await store.till(words)).stderr).to.include(
      "Nothing to change: give --origins or --none.",
    );
    expect(await store.json([...words, "--none"])).to.deep.include({ allowedOrigins: [] });
  });

  it("refuses a file together with its removal, and changes nothing", async () => {
    const store = await desk.store();
    const words = ["org", "brand", await store.platformId()];
    for (const both of [
      ["--logo", "shop.png", "--drop-logo"],
      ["--accent-color", "#7a1f5c", "--drop-accent-color"],
    ]) {
      const { code, stderr } = await store.till([...words, ...both]);
      expect(code, stderr).to.equal(2);
      expect(stderr).to.match(/Give either --\S+ or --drop-\S+, not both/);
    }
  });

  it("approves only the name and the logo that the question named", async () => {
    const store = await desk.store();
    const id = await store.pendingOrganization();
    await store.json(["org", "approve", id, "--yes"]);
    const rename = (displayName: string) =>
      store.withApp((app) =>
        updateOrganization(app, context, id, { displayName }, () => undefined),
      );
    const answer = (keys: () => Promise<string>) =>
      store.till(["org", "approve", id, "--no-color"], {
        env: { TERM: "xterm" },
        person: [[`(${id}), approved? `, keys]],
      });
    await rename("Nook & Co");
    const refused = await answer(async () => {
      await rename("First Bank");
      return "y\r";
    });
    expect(refused.code, refused.stderr).to.equal(6);
    expect(refused.stderr).to.include(`till org show ${id}`);
    expect(await store.json(["org", "show", id])).to.include({
      displayName: "Nook",
      pendingDisplayName: "First Bank",
    });
    const done = await answer(() => Promise.resolve("y\r"));
    expect(done.code, done.stderr).to.equal(0);
  });

  it("suspends so that a key is refused at once, and resumes so that it works again", async () => {
    const store = await desk.store();
    const id = await store.pendingOrganization();
    expect((await store.till(["org", "suspend", id])).stderr).to.include("--yes");
    const suspended = await store.json(["org", "suspend", id, "--yes"]);
    expect(AdminOrganizationDetailRecord.parse(suspended).status).to.equal("suspended");
    const key = await store.key(id);
    const standing = async () =>
      (await store.withApp((app) => authenticateKey(app, key)))?.membership.organizationStatus;
    expect(await standing()).to.equal("suspended");
    // Repeating emits no second event.
    await store.json(["org", "suspend", id, "--yes"]);
    const resumed = await store.json(["org", "resume", id, "--yes"]);
    expect(AdminOrganizationDetailRecord.parse(resumed).status).to.equal("active");
    expect(await standing()).to.equal("active");

    const types = ["organization.suspended", "organization.resumed"];
    const [first, second] = await Promise.all(types.map((type) => store.audited(type)));
    expect([first, second].map((entries) => entries?.length)).to.deep.equal([1, 1]);
    const events = await store.withApp((app) =>
      app.db.all<{ type: string; payload: string }>(
        "SELECT type, payload FROM events WHERE organization_id = $1 AND type IN ($2, $3) ORDER BY id",
        [id, ...types],
      ),
    );
    expect(events.map(({ type }) => type)).to.deep.equal(types);
    expect(JSON.parse(events[0]?.payload ?? "{}")).to.include({
      id,
      status: "suspended",
      previousStatus: "active",
    });
  });

  it("never suspends the platform organization", async () => {
    const store = await desk.store();
    const { code, stderr } = await store.till(["org", "suspend", await store.platformId(), "-y"]);
    expect(code).to.equal(6);
    expect(stderr).to.include("cannot be suspended");
  });

  it("exits with 5 for an unknown organization", async () => {
    const store = await desk.store();
    const note = ["--note", "No"];
    for (const words of [["show"], ["suspend"], ["resume"], ["reject", ...note]]) {
      const [verb = "", ...flags] = words;
      const { code } = await store.till(["org", verb, "org_nothing", "--yes", ...flags]);
      expect(code, verb).to.equal(5);
    }
    expect(
      AdminOrganizationListRecord.parse(await store.json(["org", "list"])).data,
    ).to.have.length(1);
  });
});
