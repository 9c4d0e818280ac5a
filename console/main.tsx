import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { I18nProvider } from 'react-aria-components';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { CallError } from './calls/call.ts';
import { consumeLinkCodes } from './calls/session.ts';
import { fetchOverview } from './pages.ts';
import { parseAddress } from './scope/address.ts';
import { language } from './words/language.ts';

const codes = consumeLinkCodes();
/** A refusal stays one; what had no answer, or failed on the way, is asked for again. */
const isTransient = (error: unknown): boolean =>
  error instanceof CallError && (error.status === 0 || error.status === 429 || error.status >= 500);
const client = new QueryClient({
  defaultOptions: {
    queries: { staleTime: 5000, retry: (failures, error) => failures < 2 && isTransient(error) },
  },
});

// Fetched while it is asked who they are. Where it does not come, opening it says so.
if (parseAddress(location.pathname).page === '') fetchOverview().catch(() => undefined);

const place = document.getElementById('console');
if (place !== null) {
  createRoot(place).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <I18nProvider locale={language === 'de' ? 'de-DE' : 'en-US'}>
          <App codes={codes} />
        </I18nProvider>
      </QueryClientProvider>
    </StrictMode>,
  );
}
