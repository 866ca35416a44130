import hooks from "eslint-plugin-react-hooks";
import ts from "typescript-eslint";

export default ts.config(ts.configs.strictTypeChecked, hooks.configs.flat.recommended, {
  languageOptions: { parserOptions: { projectService: true } },
  rules: {
    // The one way to show Markdown is parts/markdown.tsx, which makes elements.
    "no-restricted-properties": ["error", { property: "innerHTML" }, { property: "outerHTML" }],
    "no-restricted-syntax": [
      "error",
      { selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']", message: "make elements" },
    ],
    "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
    "@typescript-eslint/restrict-plus-operands": ["error", { allowNumberAndString: true }],
    "@typescript-eslint/no-confusing-void-expression": "off",
    "react-hooks/incompatible-library": "off", // virtual lists are drawn again at each scroll, as they should
  },
});
