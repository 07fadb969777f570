import ts from "typescript";

/**
 * Returns the text of a node of a source with changes in it. `change` gets each node with its text, in which the nodes
 * inside it are changed already. Types are left as they are, and what `isLeft` accepts.
 */
export function rewrite(
  node: ts.Node,
  tree: ts.SourceFile,
  isLeft: (node: ts.Node) => boolean,
  change: (node: ts.Node, text: string) => string,
): string {
  if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || isLeft(node)) {
    return node.getText(tree);
  }
  let text = "";
  let position = node.getStart(tree);
  ts.forEachChild(node, (child) => {
    text += tree.text.slice(position, child.getStart(tree)) + rewrite(child, tree, isLeft, change);
    position = child.end;
  });
  return change(node, text + tree.text.slice(position, node.end));
}
