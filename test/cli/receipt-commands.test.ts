import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { signClaims } from "../../src/features/receipts/signed-text.ts";
import { loadServerSecret } from "../../src/platform/secrets/server-secret.ts";
import { systemRandom } from "../../src/platform/secrets/tokens.ts";
import { deriveSigningKey } from "../../src/platform/secrets/signing-keys.ts";
import { receiptClaims } from "../features/receipts/documents.ts";
import { makeDesk } from "./billing-operator.ts";

describe("till receipt", () => {
  const desk = makeDesk({ TILL_NETWORKS: "sandbox" });

  it("verifies receipts with the keys of the store or of a file, also after a rotation", async () => {
    const store = await desk.store();
    const secret = await loadServerSecret({
      text: null,
      file: null,
      dataFolder: store.folder,
      mayMake: false,
      randomBytes: systemRandom,
    });
    const receipt = join(store.folder, "a receipt.txt");
    const jws = await signClaims(await deriveSigningKey(secret, 1), "receipt", receiptClaims);
    await writeFile(receipt, `${jws}\n`);
    const keys = join(store.folder, "keys.json");
    await writeFile(keys, (await store.till(["receipt", "keys", "--json"])).stdout);

    const question = await store.till(["receipt", "rotate-key"]);
    expect(question.code).to.equal(2);
    const trial = await store.till(["receipt", "rotate-key", "--dry-run"]);
    expect(trial.stderr).to.match(/Public keys +1 → 2$/m);
    const { keys: after } = (await store.json(["receipt", "rotate-key", "--yes"])) as {
      keys: readonly { readonly kid: string }[];
    };
    expect(after).to.have.lengthOf(2);
    expect(await store.audited("receipt_key.rotated")).to.have.lengthOf(1);

    const shown = await store.till(["receipt", "verify", "--file", receipt]);
    expect(shown.code, shown.stderr).to.equal(0);
    for (const text of ["valid, of a receipt", "Café Zürich", "25.00 USD", "P7K2-9QXD"]) {
      expect(shown.stdout).to.contain(text);
    }
    expect(await store.json(["receipt", "verify"], { stdin: jws })).to.deep.include({
      kind: "receipt",
      claims: receiptClaims,
    });
    // Without any store.
    const elsewhere = await store.till(
      ["receipt", "verify", "--keys", keys, "--quiet", "--data-dir", join(store.folder, "none")],
      { stdin: jws },
    );
    expect(elsewhere).to.deep.include({ code: 0, stdout: `${receiptClaims.checkoutId}\n` });

    // The new key is not in the old file.
    const newer = await signClaims(await deriveSigningKey(secret, 2), "receipt", receiptClaims);
    const unknown = await store.till(["receipt", "verify", "--keys", keys], { stdin: newer });
    expect(unknown.code).to.equal(1);
    expect(unknown.stderr).to.contain("None of these keys signed it");
    expect((await store.till(["receipt", "verify"], { stdin: newer })).code).to.equal(0);
  });

  it("names what is wrong with the input", async () => {
    const store = await desk.store();
    const noText = await store.till(["receipt", "verify"], { stdin: "hello" });
    expect(noText.code).to.equal(1);
    expect(noText.stderr).to.contain("This is not a signed document");
    for (const [file, content, told] of [
      ["none.json", null, "cannot be read (ENOENT)"],
      ["text.json", "hello", "is not a key set"],
      ["empty.json", '{"keys":[]}', "is not a key set"],
    ] as const) {
      const path = join(store.folder, file);
      if (content !== null) await writeFile(path, content);
      const { code, stderr } = await store.till(["receipt", "verify", "--keys", path], {
        stdin: "hello",
      });
      expect(code).to.equal(2);
      expect(stderr).to.contain(told);
    }
    const both = await store.till(["receipt", "verify", "--keys", "-"], { stdin: "hello" });
    expect(both.code).to.equal(2);
    expect(both.stderr).to.contain("Only one of the text and the keys");
    const missing = await store.till(["receipt", "show", `chk_${"0".repeat(32)}`]);
    expect(missing.code).to.equal(5);
  });
});
