// Operators copy the commands of the documentation: every one must exist, with its flags.
import { expect } from "chai";
import { commandTree, parseError } from "./command-tree.ts";
import { commandsOf, pagesWithCommands } from "./commands-of-pages.ts";

describe("the commands in the pages of operators and developers", () => {
  it("parse on the real command line, each with its noun, verb and flags", async () => {
    const program = await commandTree();
    const commands = pagesWithCommands().flatMap(commandsOf);
    expect(commands.length).to.be.above(20);
    const wrong: string[] = [];
    for (const { place, words } of commands) {
      const error = await parseError(program, words);
      if (error !== null) wrong.push(`${place}: till ${words.join(" ")}: ${error}`);
    }
    expect(wrong).to.deep.equal([]);
  });

  it("are found behind other programs, in pipes, with quotes, redirections and comments", async () => {
    const text = [
      "```sh",
      "till org list --json | jq .data # all",
      "sudo -u till till backup '/mnt/my backups/' 2> log",
      "docker run -v till:/data till init \\",
      "  --password-stdin < password.txt && till serve",
      "docker build -t till .",
      `export KEY=$(till key list --json | sed -n 's/"\\([^"]*\\)"/\\1/p')`,
      "```",
      "```yaml",
      "till nothing",
      "```",
    ].join("\n");
    const found = commandsOf({ path: "p", text }).map(({ words }) => words.join(" "));
    expect(found).to.deep.equal([
      "org list --json",
      "backup /mnt/my backups/",
      "init --password-stdin",
      "serve",
      "key list --json",
    ]);
    const program = await commandTree();
    for (const words of [
      ["orgs", "list"],
      ["org", "lists"],
      ["org", "list", "--all"],
      ["restore"],
    ]) {
      expect(await parseError(program, words), words.join(" ")).to.be.a("string");
    }
  });
});
