import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { Project } from '../../contract/projects.ts';
import { CallError, callList } from '../calls/call.ts';

/** Path of the projects. They are listed for the whole organization regardless of the selected project. */
export const PROJECTS = '/org/projects';
const PAGE_SIZE = 100;

/** All projects of the organization, oldest first: the oldest is the default for new resources. Empty if projects are off. */
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
