import { join } from 'node:path';
import type { Application } from './application.ts';
import { fillLoginForm } from './login-by-hand.ts';
import { mavenArchive, run, startRestartable, startServer } from './server-process.ts';
import { buildSpring, startSpring, type SpringProgram } from './spring.ts';

const ADMIN = { identifier: 'admin', password: 'Correct-horse-battery-9' };

const ARTEMIS = '2.40.0';

const artemis: Application = {
  name: 'ActiveMQ Artemis',
  builtWith: 'Jetty, Hawtio, React, PatternFly 5',
  installedAs: 'artemis',
  install: (folder) => mavenArchive(folder, `org.apache.activemq:apache-artemis:${ARTEMIS}:zip:bin`),
  start: async ({ folder, data, port, url }) => {
    const broker = join(data, 'broker');
    const account = ['--user', ADMIN.identifier, '--password', ADMIN.password, '--require-login', '--silent'];
    const addresses = ['--http-host', '127.0.0.1', '--http-port', String(port), '--default-port', String(port + 1)];
    const withoutExtras = [
      '--no-amqp-acceptor',
      '--no-hornetq-acceptor',
      '--no-mqtt-acceptor',
      '--no-stomp-acceptor',
      '--nio',
      '--no-autotune',
    ];
    const program = join(folder, `apache-artemis-${ARTEMIS}`, 'bin', 'artemis');
    await run('bash', [program, 'create', ...account, ...addresses, ...withoutExtras, broker]);
    const serve = () => startServer('bash', [join(broker, 'bin', 'artemis'), 'run'], `${url}/console/`, { cwd: data });
    // Sessions are in memory.
    const server = await startRestartable(serve);
    return {
      ...server,
      loginUrl: `${url}/console/`,
      account: ADMIN,
      byHand: async (page) => {
        await fillLoginForm(page, `${url}/console/`, ADMIN, [
          '[name*=username], #pf-login-username-id',
          '[name*=password], #pf-login-password-id',
        ]);
        await page.waitForSelector('text=/artemis|broker diagram|acceptors/i >> visible=true');
        await page.waitForURL((address) => !address.pathname.endsWith('/login'));
      },
    };
  },
};

const ADMIN_SERVER: SpringProgram = {
  artifact: 'admin',
  dependencies: [
    'org.springframework.boot:spring-boot-starter-web',
    'org.springframework.boot:spring-boot-starter-security',
    'de.codecentric:spring-boot-admin-starter-server:3.3.6',
  ],
  className: 'Admin',
  source: `package demo;
import de.codecentric.boot.admin.server.config.EnableAdminServer;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.authentication.SavedRequestAwareAuthenticationSuccessHandler;
@SpringBootApplication
@EnableAdminServer
public class Admin {
  public static void main(String[] args) { SpringApplication.run(Admin.class, args); }
  @Bean
  SecurityFilterChain chain(HttpSecurity http, @Value("\${demo.key}") String key) throws Exception {
    var success = new SavedRequestAwareAuthenticationSuccessHandler();
    success.setTargetUrlParameter("redirectTo");
    success.setDefaultTargetUrl("/");
    http.authorizeHttpRequests(each -> each.requestMatchers("/assets/**", "/login").permitAll().anyRequest().authenticated())
      .formLogin(form -> form.loginPage("/login").successHandler(success))
      .logout(out -> out.logoutUrl("/logout"))
      .rememberMe(remember -> remember.key(key));
    return http.build();
  }
}
`,
};

const springBootAdmin: Application = {
  name: 'Spring Boot Admin',
  builtWith: 'Spring Security, Thymeleaf, Vue, Tailwind; "remember me"',
  installedAs: 'spring-boot-admin',
  install: (folder) => buildSpring(folder, ADMIN_SERVER),
  start: async (place) => {
    const properties = {
      'spring.security.user.name': ADMIN.identifier,
      'spring.security.user.password': ADMIN.password,
    };
    const serve = (key: string) => startSpring(place, ADMIN_SERVER, '/login', { ...properties, 'demo.key': key });
    const server = await startRestartable(serve);
    return {
      ...server,
      account: ADMIN,
      byHand: async (page) => {
        await fillLoginForm(page, place.url, ADMIN, ['[name=username]', '[name=password]']);
        await page.waitForURL((address) => address.pathname !== '/login');
        await page.waitForSelector('a[href*="wallboard"]');
      },
    };
  },
};

const CAMUNDA_SERVER: SpringProgram = {
  artifact: 'processes',
  dependencies: [
    'org.camunda.bpm.springboot:camunda-bpm-spring-boot-starter-webapp:7.22.0',
    'org.springframework.boot:spring-boot-starter-jdbc',
    'com.h2database:h2',
  ],
  className: 'Processes',
  source: `package demo;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
@SpringBootApplication
public class Processes { public static void main(String[] args) { SpringApplication.run(Processes.class, args); } }
`,
};

const camunda: Application = {
  name: 'Camunda',
  builtWith:
    'Spring Boot, AngularJS, Bootstrap 3; the form at a hash address, after the application frame was rendered',
  installedAs: 'camunda',
  install: (folder) => buildSpring(folder, CAMUNDA_SERVER),
  start: async (place) => {
    const properties = {
      'spring.datasource.url': 'jdbc:h2:mem:processes',
      'camunda.bpm.admin-user.id': ADMIN.identifier,
      'camunda.bpm.admin-user.password': ADMIN.password,
    };
    const serve = () => startSpring(place, CAMUNDA_SERVER, '/camunda/app/welcome/default/', properties);
    // Sessions are in memory.
    const server = await startRestartable(serve);
    return {
      ...server,
      account: ADMIN,
      byHand: async (page) => {
        await fillLoginForm(page, place.url, ADMIN, ['[ng-model=username]', '[ng-model=password]']);
        await page.waitForSelector('.logout', { state: 'attached' });
      },
    };
  },
};

/** Consoles from Maven Central. */
export const JAVA_CONSOLES: readonly Application[] = [artemis, springBootAdmin, camunda];
