import type { CallToolResult } from '@modelcontextprotocol/server';

/** What a tool found out, for programs and, as text, for models. */
export function answer(found: Record<string, unknown>): CallToolResult {
  const structuredContent = Object.fromEntries(
    Object.entries(found).filter(([, value]) => value !== undefined && value !== null),
  );
  return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
}
