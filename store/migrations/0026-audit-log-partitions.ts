import { sql, type Migration } from 'kysely';

/**
 * The audit log in one partition a month, so that old months go in one step. Rows keep their order and their seals; a row's
 * `kind` says what it is filtered by, so that one index answers every such filter.
 */
export const auditLogPartitions: Migration = {
  up: async (db) => {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `alter table audit_log rename to audit_log_before`,
  // What was written to the log last. Who appends holds its row, so that the rows of all processes form one chain.
  `create table audit_log_head (
    only_one boolean primary key default true check (only_one),
    seal bytea,
    written_at timestamptz not null
  )`,
  `insert into audit_log_head (seal, written_at) select
    (select seal from audit_log_before order by seq desc limit 1),
    (select coalesce(max(timestamp), 'epoch') from audit_log_before)`,
  `create table audit_log_kinds (
    id serial primary key,
    organization_id text not null,
    project_id text not null,
    method text not null,
    auth_strategy text not null,
    service text not null,
    unique (organization_id, project_id, method, auth_strategy, service)
  )`,
  `create sequence audit_log_numbers`,
  `create table audit_log (
    seq bigint not null default nextval('audit_log_numbers'),
    written_at timestamptz not null,
    timestamp timestamptz not null,
    kind integer not null,
    organization_id text not null,
    project_id text,
    auth_strategy text not null,
    user_id text not null,
    email text not null,
    status integer not null,
    method text not null,
    path text not null,
    route text not null,
    domain text not null,
    duration_ms integer not null,
    client_ip text not null,
    user_agent text not null,
    previous_seal bytea,
    seal bytea,
    primary key (seq, written_at)
  ) partition by range (written_at)`,
  `alter sequence audit_log_numbers owned by audit_log.seq`,
  // Attached, not made in place: that would wait for all who read, and have all who write wait.
  `create function add_audit_log_partition(moment timestamptz) returns void language plpgsql as $$
    declare
      first timestamp := date_trunc('month', moment at time zone 'UTC');
      name text := 'audit_log_' || to_char(first, 'YYYY_MM');
    begin
      if to_regclass(name) is not null then return; end if;
      perform pg_advisory_xact_lock(1096107092);
      if to_regclass(name) is not null then return; end if;
      execute format('create table %I (like audit_log including defaults)', name);
      execute format('alter table audit_log attach partition %I for values from (%L) to (%L)',
        name, first at time zone 'UTC', (first + interval '1 month') at time zone 'UTC');
    end $$`,
  `select add_audit_log_partition(months.first) from (
    select distinct date_trunc('month', timestamp, 'UTC') as first from audit_log_before
    union select date_trunc('month', now(), 'UTC') union select date_trunc('month', now(), 'UTC') + interval '1 month'
  ) months`,
  `insert into audit_log_kinds (organization_id, project_id, method, auth_strategy, service)
    select distinct organization_id, coalesce(project_id, ''), method, auth_strategy, ${serviceOf('path')}
    from audit_log_before`,
  `insert into audit_log select seq, max(timestamp) over (order by seq), timestamp, kinds.id,
      rows.organization_id, rows.project_id, rows.auth_strategy, user_id, email, status, rows.method, path, route, domain,
      duration_ms, client_ip, user_agent, previous_seal, seal
    from audit_log_before rows join audit_log_kinds kinds on (kinds.organization_id, kinds.project_id, kinds.method,
      kinds.auth_strategy, kinds.service) = (rows.organization_id, coalesce(rows.project_id, ''), rows.method,
      rows.auth_strategy, ${serviceOf('rows.path')})`,
  `select setval('audit_log_numbers', (select max(seq) from audit_log_before))`,
  `drop table audit_log_before`,
  `create index audit_log_time on audit_log (organization_id, timestamp desc, seq desc)`,
  `create index audit_log_kind on audit_log (kind, timestamp desc, seq desc)`,
  `create index audit_log_user on audit_log (user_id, timestamp desc, seq desc) where user_id <> ''`,
  // As in the index of connections: without the extension searches read row by row.
  `do $$ begin
    create index audit_log_search on audit_log using gin
      (lower(path || chr(10) || user_id || chr(10) || email || chr(10) || client_ip || chr(10) || status::text) gin_trgm_ops);
  exception when insufficient_privilege or feature_not_supported or undefined_file or undefined_object then
    raise notice 'pg_trgm cannot be had here: searches of the audit log will be slow over many rows';
  end $$`,
];

function serviceOf(path: string): string {
  return `case when ${path} ~ '^/(browsers|browser_pools)(/|$)' then 'browser' else 'api' end`;
}
