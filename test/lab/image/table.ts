/** The results of a proof, of which the last lines are a table. */
export interface Table {
  /** Adds a line, and prints it at once. */
  line(area: string, what: string, isMet: boolean, seen?: unknown): void;
  /** Adds a measured figure. */
  figure(area: string, what: string, seen: string): void;
  /** Runs a part; an error of it is a line that is not met. */
  part(area: string, work: () => Promise<void> | void): Promise<void>;
  /** Prints all lines. Returns whether all are met. */
  print(): boolean;
}

interface Line {
  readonly area: string;
  readonly what: string;
  readonly result: "held" | "FAILED" | "";
  readonly seen: string;
}

export function makeTable(): Table {
  const lines: Line[] = [];
  const add = (line: Line) => {
    lines.push(line);
    console.log(wordsOf(line));
  };
  const line: Table["line"] = (area, what, isMet, seen = "") => {
    const words =
      typeof seen === "string"
        ? seen
        : Array.isArray(seen)
          ? seen.join(", ")
          : JSON.stringify(seen);
    add({ area, what, result: isMet ? "held" : "FAILED", seen: words });
  };
  return {
    line,
    figure(area, what, seen) {
      add({ area, what, result: "", seen });
    },
    async part(area, work) {
      try {
        await work();
      } catch (error) {
        line(
          area,
          "runs to its end",
          false,
          error instanceof Error ? error.message : String(error),
        );
      }
    },
    print() {
      const failed = lines.filter(({ result }) => result === "FAILED").length;
      const held = lines.filter(({ result }) => result === "held").length;
      console.log(`\n${lines.map(wordsOf).join("\n")}`);
      console.log(`${String(held)} held, ${String(failed)} failed`);
      return failed === 0 && held > 0;
    },
  };
}

function wordsOf({ area, what, result, seen }: Line): string {
  return `${result.padEnd(7)} ${area.padEnd(12)} ${what}${seen === "" ? "" : `: ${seen}`}`;
}
