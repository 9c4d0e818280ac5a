import { z } from 'zod';

/** Body of `POST /org/projects`. */
export const ProjectCreate = z.strictObject({ name: z.string().trim().min(1).max(255) });

/** Body of `PATCH /org/projects/{id or name}`. */
export const ProjectUpdate = z.strictObject({
  name: ProjectCreate.shape.name.optional(),
  status: z.enum(['active', 'archived']).optional(),
});

/** A project: isolates resources within an organization. */
export const Project = z.strictObject({
  id: z.string(),
  name: z.string(),
  status: z.enum(['active', 'archived']),
  created_at: z.string(),
  updated_at: z.string(),
});
export type Project = z.infer<typeof Project>;
