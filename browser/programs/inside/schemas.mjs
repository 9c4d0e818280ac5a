import { createRequire } from 'node:module';
import path from 'node:path';
import process from 'node:process';

/**
 * Derives JSON Schemas (draft-07) of a TypeScript program's actions from their handlers' types: `schemas.mjs <typescript> <entry>`
 * prints `{action: {input_schema, output_schema}}`. A type that a schema cannot fully express gives null.
 */
const [typescript, entry] = process.argv.slice(2);
const ts = createRequire(import.meta.url)(typescript);
const DRAFT = 'http://json-schema.org/draft-07/schema#';
/** Deeper types are recursive, or not meant as a payload. */
const MAX_DEPTH = 12;

class Inexpressible extends Error {}

const program = ts.createProgram([entry], {
  ...{ strict: true, noEmit: true, skipLibCheck: true, allowImportingTsExtensions: true },
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  types: [],
});
const checker = program.getTypeChecker();

function schemaOf(type, depth = 0) {
  if (depth > MAX_DEPTH) throw new Inexpressible();
  const { flags } = type;
  const has = (flag) => (flags & flag) !== 0;
  if (has(ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return {};
  if (has(ts.TypeFlags.StringLiteral | ts.TypeFlags.NumberLiteral)) return { const: type.value };
  if (has(ts.TypeFlags.BooleanLiteral)) return { const: checker.typeToString(type) === 'true' };
  if (has(ts.TypeFlags.Null)) return { type: 'null' };
  if (has(ts.TypeFlags.String | ts.TypeFlags.TemplateLiteral)) return { type: 'string' };
  if (has(ts.TypeFlags.Number)) return { type: 'number' };
  if (has(ts.TypeFlags.Boolean)) return { type: 'boolean' };
  if (type.isUnion()) return unionOf(type, depth);
  if (checker.isTupleType(type)) {
    const items = checker.getTypeArguments(type).map((each) => schemaOf(each, depth + 1));
    return { type: 'array', items, minItems: items.length, maxItems: items.length };
  }
  if (checker.isArrayType(type))
    return { type: 'array', items: schemaOf(checker.getTypeArguments(type)[0], depth + 1) };
  if (has(ts.TypeFlags.Object | ts.TypeFlags.Intersection)) return objectOf(type, depth);
  throw new Inexpressible();
}

function unionOf(type, depth) {
  const members = type.types.filter((each) => (each.flags & ts.TypeFlags.Undefined) === 0);
  const isBoolean = (each) => (each.flags & ts.TypeFlags.BooleanLiteral) !== 0;
  const schemas = members.filter((each) => !isBoolean(each)).map((each) => schemaOf(each, depth + 1));
  const booleans = members.filter(isBoolean);
  if (booleans.length === 2) schemas.push({ type: 'boolean' });
  else schemas.push(...booleans.map((each) => schemaOf(each, depth + 1)));
  if (schemas.length === 1) return schemas[0];
  return schemas.every((each) => 'const' in each) ? { enum: schemas.map((each) => each.const) } : { anyOf: schemas };
}

function objectOf(type, depth) {
  // JSON cannot carry functions, and carries dates as strings.
  if (type.getCallSignatures().length > 0 || type.getConstructSignatures().length > 0) throw new Inexpressible();
  if (checker.typeToString(type) === 'Date') return { type: 'string', format: 'date-time' };
  const declared = type.getSymbol()?.declarations ?? [];
  // Neither classes nor built-in types (Map, Promise, Uint8Array).
  const isOwn = (each) => !ts.isInterfaceDeclaration(each) || !program.isSourceFileDefaultLibrary(each.getSourceFile());
  if (declared.some(ts.isClassDeclaration) || !declared.every(isOwn)) throw new Inexpressible();
  const properties = {};
  const required = [];
  for (const property of checker.getPropertiesOfType(type)) {
    const each = checker.getTypeOfSymbol(property);
    properties[property.name] = schemaOf(each, depth + 1);
    if ((property.flags & ts.SymbolFlags.Optional) === 0) required.push(property.name);
  }
  const index = checker.getIndexInfosOfType(type)[0];
  return {
    type: 'object',
    properties,
    ...(required.length > 0 ? { required } : {}),
    ...(index === undefined ? {} : { additionalProperties: schemaOf(index.type, depth + 1) }),
  };
}

/** The complete schema of a type; null for a missing, unconstrained or inexpressible one. */
function wholeSchema(type) {
  if (type === undefined) return null;
  try {
    const schema = schemaOf(type);
    return Object.keys(schema).length === 0 ? null : { $schema: DRAFT, ...schema };
  } catch (error) {
    if (error instanceof Inexpressible) return null;
    throw error;
  }
}

function actionOf(node) {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return null;
  const [name, handler] = node.arguments;
  if (node.expression.name.text !== 'action' || node.arguments.length !== 2) return null;
  if (!ts.isStringLiteralLike(name)) return null;
  const signature = checker.getTypeAtLocation(handler).getCallSignatures()[0];
  if (signature === undefined) return null;
  const payload = signature.getParameters()[1];
  const input = payload === undefined ? undefined : checker.getNonNullableType(checker.getTypeOfSymbol(payload));
  const output = checker.getAwaitedType(signature.getReturnType());
  const isVoid = output !== undefined && (output.flags & (ts.TypeFlags.Void | ts.TypeFlags.Undefined)) !== 0;
  return [name.text, { input_schema: wholeSchema(input), output_schema: isVoid ? null : wholeSchema(output) }];
}

const found = {};
function visit(node) {
  const action = actionOf(node);
  if (action !== null) found[action[0]] = action[1];
  ts.forEachChild(node, visit);
}
for (const file of program.getSourceFiles()) {
  const { fileName } = file;
  if (!file.isDeclarationFile && !fileName.split(path.sep).includes('node_modules')) visit(file);
}
process.stdout.write(JSON.stringify(found));
