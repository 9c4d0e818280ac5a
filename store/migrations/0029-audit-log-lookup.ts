import { sql, type Migration } from 'kysely';

/**
 * One index of the audit log that holds text and labels (day, user, project, method, strategy, service) together: a search is narrowed
 * to what is asked for within the index, and read day by day. Months of some size get theirs from the sweep (audit-indexes.ts), while rows are written to them.
 */
export const auditLogLookup: Migration = {
  up: async (db) => {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const LABELS = `array[
  'day ' || organization_id || ' ' || ((timestamp at time zone 'UTC')::date - date '1970-01-01')::text,
  'user ' || user_id,
  'project ' || coalesce(project_id, ''),
  'method ' || method,
  'strategy ' || auth_strategy,
  'service ' || case when path ~ '^/(browsers|browser_pools)(/|$)' then 'browser' else 'api' end]`;
/** Every sign is a letter: pg_trgm sees words alone, and a part of a path or of an address is more than its words. */
const TEXT = `translate(lower(path || chr(10) || user_id || chr(10) || email || chr(10) || client_ip || chr(10) || status::text),
  './-_@:', 'qzxjwv')`;

const statements = [
  `drop index if exists audit_log_search`,
  `drop index if exists audit_log_user`,
  `do $$ declare
    text_of text := '';
    columns text;
    month regclass;
  begin
    if exists (select from pg_opclass where opcname = 'gin_trgm_ops' and pg_opclass_is_visible(oid)) then
      text_of := $text$, (${TEXT}) gin_trgm_ops$text$;
    end if;
    columns := $columns$using gin ((${LABELS})$columns$ || text_of || ')';
    execute 'create index audit_log_lookup on only audit_log ' || columns;
    for month in select inhrelid::regclass from pg_inherits where inhparent = 'audit_log'::regclass
      and pg_relation_size(inhrelid) < 4 * 1024 * 1024
    loop
      execute format('create index %I on %s %s', month::text || '_lookup', month, columns);
      execute format('alter index audit_log_lookup attach partition %I', month::text || '_lookup');
    end loop;
  end $$`,
];
