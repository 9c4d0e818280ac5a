import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run, startServer, type RestartableServer } from './server-process.ts';

const END_SESSIONS = 'from django.contrib.sessions.models import Session; Session.objects.all().delete()';

/** A Django project that can run its management commands and its server. */
export interface DjangoProject {
  manage(...args: string[]): Promise<string>;
  /** Starts the development server and waits until `readyUrl` is served. */
  serve(port: number, readyUrl: string): Promise<RestartableServer>;
}

/** `script`: what Python runs for a management command, `manage.py` by default. */
export function djangoProject(
  python: string,
  options: { cwd: string; env?: NodeJS.ProcessEnv },
  script: readonly string[] = ['manage.py'],
): DjangoProject {
  const manage = (...args: string[]) => run(python, [...script, ...args], options);
  return {
    manage,
    async serve(port, readyUrl) {
      const args = [...script, 'runserver', '--noreload', String(port)];
      const server = await startServer(python, args, readyUrl, options);
      return { ...server, endSessions: async () => void (await manage('shell', '-c', END_SESSIONS)) };
    },
  };
}

/** What a site adds to the settings that every site here has. */
export interface DjangoSite {
  apps: readonly string[];
  middleware: string;
  /** The URL configuration module. */
  urls: string;
  /** Python statements at the end of the settings. */
  settings: string;
}

/** Writes and migrates a project of one settings module, with the sessions and users of Django and an SQLite database. */
export async function createDjangoProject(python: string, folder: string, site: DjangoSite): Promise<DjangoProject> {
  await writeFile(join(folder, 'site1.py'), settingsOf(site));
  await writeFile(join(folder, 'urls1.py'), site.urls);
  const env = { DJANGO_SETTINGS_MODULE: 'site1', PYTHONPATH: folder };
  const project = djangoProject(python, { cwd: folder, env }, ['-m', 'django']);
  await project.manage('migrate', '--verbosity', '0');
  return project;
}

function settingsOf(site: DjangoSite): string {
  return `
import os
HERE = os.path.dirname(os.path.abspath(__file__))
SECRET_KEY = 'bench'
DEBUG = True
ALLOWED_HOSTS = ['*']
ROOT_URLCONF = 'urls1'
INSTALLED_APPS = ['django.contrib.auth', 'django.contrib.contenttypes', 'django.contrib.sessions', 'django.contrib.messages',
  'django.contrib.staticfiles', ${site.apps.map((app) => `'${app}'`).join(', ')}]
MIDDLEWARE = ['django.contrib.sessions.middleware.SessionMiddleware', 'django.middleware.common.CommonMiddleware',
  'django.middleware.csrf.CsrfViewMiddleware', 'django.contrib.auth.middleware.AuthenticationMiddleware',
  'django.contrib.messages.middleware.MessageMiddleware', '${site.middleware}']
TEMPLATES = [{'BACKEND': 'django.template.backends.django.DjangoTemplates', 'APP_DIRS': True, 'OPTIONS': {'context_processors': [
  'django.template.context_processors.request', 'django.contrib.auth.context_processors.auth', 'django.contrib.messages.context_processors.messages']}}]
DATABASES = {'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': os.path.join(HERE, 'db.sqlite3')}}
DEFAULT_AUTO_FIELD = 'django.db.models.AutoField'
STATIC_URL = '/static/'
${site.settings}`;
}
