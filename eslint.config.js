import js from '@eslint/js';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['node_modules/', '.holdfast/', 'dist/', 'coverage/', 'test/histories/'] },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports' }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      eqeqeq: 'error',
      'no-console': 'error',
    },
  },
  {
    // A test may leave a made-up function empty and compare with a value it knows to be there.
    files: ['test/**/*.ts'],
    rules: { '@typescript-eslint/no-empty-function': 'off', '@typescript-eslint/require-await': 'off' },
  },
  {
    files: ['**/*.{mjs,js}'],
    languageOptions: { globals: { SharedArrayBuffer: 'readonly', Int32Array: 'readonly', Atomics: 'readonly' } },
  },
);
