import type Kernel from '@onkernel/sdk';

/** Every operation that the installed SDK has, such as `browsers.fs.readFile`, in its own order. */
export function operationsOf(kernel: Kernel): string[] {
  return Object.entries(kernel).flatMap(([name, resource]: [string, unknown]) =>
    isResource(resource) ? methodsOf(resource, name) : [],
  );
}

/** A resource of the SDK knows the client that it is of. */
function isResource(value: unknown): value is object {
  return typeof value === 'object' && value !== null && '_client' in value;
}

function methodsOf(resource: object, prefix: string): string[] {
  const prototype: unknown = Object.getPrototypeOf(resource);
  const own = Object.getOwnPropertyNames(prototype).filter((name) => name !== 'constructor' && !name.startsWith('_'));
  const below = Object.entries(resource).flatMap(([name, value]: [string, unknown]) =>
    isResource(value) ? methodsOf(value, `${prefix}.${name}`) : [],
  );
  return [...own.map((name) => `${prefix}.${name}`), ...below];
}
