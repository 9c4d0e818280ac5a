import type { AuditLogEntry } from '../../contract/audit-logs.ts';

/** A row of the audit log as a test needs it. */
export function auditEntry(more: Partial<AuditLogEntry> = {}): AuditLogEntry {
  return {
    timestamp: '2026-03-01T12:00:00.000Z',
    auth_strategy: 'api_key',
    user_id: 'usr_1',
    email: 'ann@example.com',
    status: 200,
    method: 'GET',
    path: '/profiles',
    route: '/profiles',
    domain: 'localhost',
    duration_ms: 2,
    client_ip: '203.0.113.9',
    user_agent: 'test',
    ...more,
  };
}
