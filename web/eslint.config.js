import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist/", "node_modules/"] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-confusing-void-expression": "off",
      "no-restricted-syntax": [
        "error",
        { selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']", message: "only <Html> (html.tsx) puts in HTML, and only what safe() returned" },
        { selector: "MemberExpression[property.name='innerHTML']", message: "use <Html> (html.tsx)" },
      ],
    },
  },
  { files: ["test/**"], rules: { "@typescript-eslint/no-floating-promises": ["error", { allowForKnownSafeCalls: [{ from: "package", package: "node:test", name: ["test"] }] }] } },
  { files: ["eslint.config.js"], ...tseslint.configs.disableTypeChecked },
);
