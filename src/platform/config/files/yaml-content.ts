import { isNode, LineCounter, parseDocument } from "yaml";
import type { YamlContent } from "./parse-yaml.ts";

/** Reads the text of a YAML file. */
export function readYaml(text: string): YamlContent {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const problems = document.errors.map(({ pos, message }) => ({
    path: "",
    line: lines.linePos(pos[0]).line,
    message: `is not valid YAML: ${message}`,
  }));
  return {
    value: problems.length > 0 ? null : (document.toJS() ?? {}),
    problems,
    lineOf(path) {
      for (let depth = path.length; depth > 0; depth -= 1) {
        const node = document.getIn(path.slice(0, depth), true);
        if (isNode(node) && node.range != null) return lines.linePos(node.range[0]).line;
      }
      return 1;
    },
  };
}
