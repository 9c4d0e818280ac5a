/** A caller's code as a module, or why it is none. */
export type Program = { module: string } | { fault: string };

/** Name of the code in messages. */
const CODE_NAME = 'code';

/** Makes the body of a function, in TypeScript or JavaScript, a module that Node runs. The code itself is not run here. */
export async function readProgram(code: string): Promise<Program> {
  // Loaded when it is first needed: most browser services never run such code.
  const { transform } = await import('esbuild');
  // On one line with the code's first, so that lines in messages are the caller's.
  const source = `export default async (page, context, browser) => { ${code}\n};\n`;
  try {
    const { code: module } = await transform(source, {
      loader: 'ts',
      format: 'esm',
      target: 'node20',
      sourcefile: CODE_NAME,
      tsconfigRaw: '{}',
      logLevel: 'silent',
    });
    return { module };
  } catch (error) {
    return { fault: `SyntaxError: ${firstMessage(error)}` };
  }
}

function firstMessage(error: unknown): string {
  const text = error instanceof Error ? error.message : '';
  const line = /^code:(\d+):\d+: ERROR: (.*)$/m.exec(text);
  return line === null ? 'the code cannot be read' : `line ${line[1] ?? ''}: ${line[2] ?? ''}`;
}
