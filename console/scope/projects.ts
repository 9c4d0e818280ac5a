import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { Project } from '../../contract/projects.ts';
import { CallError, callList } from '../calls/call.ts';

/** Where projects are. Their reads are of the whole organization, whatever project is looked at. */
export const PROJECTS = '/org/projects';
const PAGE_SIZE = 100;

/**
 * Every project of the organization, the oldest first: that is the one where things are made while none is chosen. None where projects
 * are off.
 */
export function useProjects(): UseQueryResult<Project[]> {
  return useQuery({ queryKey: [PROJECTS, 'all'], queryFn: () => readAll().catch(noneWhereOff), staleTime: 60_000 });
}

async function readAll(): Promise<Project[]> {
  const projects: Project[] = [];
  for (let offset: number | null = 0; offset !== null;) {
    const page: Awaited<ReturnType<typeof callList<Project>>> = await callList<Project>(PROJECTS, {
      limit: PAGE_SIZE,
      offset,
    });
    projects.push(...page.rows);
    offset = page.nextOffset;
  }
  return projects;
}

function noneWhereOff(error: unknown): Project[] {
  if (error instanceof CallError && error.code === 'projects_disabled') return [];
  throw error;
}
