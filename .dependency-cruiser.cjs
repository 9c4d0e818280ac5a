/**
 * Which room may import which (docs: CONTRIBUTING.md). The start-up code, tests and benchmarks see everything.
 * A module is a folder at the top; a rule names those it must not import.
 */
const MODULES = [
  'contract',
  'http',
  'workflows',
  'activities',
  'reader',
  'browser-client',
  'workers',
  'client',
  'api',
  'browser',
  'codes',
  'credential-providers',
  'program-sources',
  'egress',
  'store',
  'sandbox',
  'console',
];

/** Module -> modules it may import from, itself aside. */
const MAY_IMPORT = {
  contract: [],
  http: ['contract'],
  workflows: ['contract'],
  activities: ['contract', 'reader', 'browser-client', 'credential-providers', 'store', 'egress'],
  reader: ['contract'],
  'browser-client': ['contract'],
  client: ['contract', 'workflows'],
  api: ['contract', 'http', 'browser-client', 'client', 'codes', 'credential-providers', 'store'],
  codes: ['contract', 'client', 'store'],
  browser: ['contract', 'http', 'store', 'egress'],
  workers: ['contract', 'workflows', 'activities', 'browser-client', 'credential-providers', 'store', 'egress'],
  'credential-providers': ['contract', 'egress'],
  'program-sources': ['contract', 'egress'],
  store: ['contract'],
  egress: ['contract'],
  sandbox: [],
  console: ['contract'],
};

const SEES_EVERYTHING = ['start', 'test', 'bench', 'docs'];

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'A cycle means that two files are one, or that a third is missing.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-unresolved',
      comment:
        'An import that leads nowhere. (devtools-protocol is types alone, which the cruiser does not look for; a recipe has packages of its own.)',
      severity: 'error',
      from: { pathNot: ['^docs/recipes/'] },
      to: { couldNotResolve: true, pathNot: ['^devtools-protocol$'] },
    },
    ...Object.entries(MAY_IMPORT).map(([module, allowed]) => ({
      name: `imports-of-${module}`,
      comment: `${module} may import ${allowed.length === 0 ? 'no other module' : allowed.join(', ')}.`,
      severity: 'error',
      from: { path: `^${module}/` },
      to: {
        path: `^(${[...MODULES, ...SEES_EVERYTHING].filter((other) => other !== module && !allowed.includes(other)).join('|')})/`,
      },
    })),
    {
      name: 'compilers-at-build-time',
      comment:
        'What compiles is loaded where something is prebuilt, not by every role: use a *.prebuilt.ts, or import().',
      severity: 'error',
      from: { pathNot: '(\\.prebuilt|^start/build|^test/.*)\\.ts$' },
      to: { path: 'node_modules/(esbuild|tsx)/', dependencyTypesNot: ['type-only', 'dynamic-import'] },
    },
    {
      name: 'types-alone-in-console',
      comment: 'The console takes types of the contract: its schemas would weigh more than a page of it.',
      severity: 'error',
      from: { path: '^console/' },
      to: { path: '^contract/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-zod-in-workflows',
      comment: 'zod in the workflow bundle costs about a megabyte for each cached workflow: import types only.',
      severity: 'error',
      from: { path: '^workflows/' },
      to: { path: 'node_modules/zod', dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|\\.holdfast)' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
