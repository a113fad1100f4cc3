/* options_precedence.c -- defaults < system < user < --config < environment < command line, and what is remembered of it. */
#include "options_load.h"

#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct sources {
    char directory[64];
    char system[512], home[128], xdg[128], config[512];
} sources;

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    cr_assert(file != NULL, "%s", path);
    cr_assert(fputs(text, file) >= 0 && fclose(file) == 0);
}

/* Four files, each setting xdrop to its own number; system sets everything, the others one thing less each. */
static void make_sources(sources *s)
{
    char path[512];
    strcpy(s->directory, "/tmp/hspz_precedence_XXXXXX");
    cr_assert(mkdtemp(s->directory) != NULL);
    snprintf(s->system, sizeof s->system, "%s/system.ini", s->directory);
    snprintf(s->config, sizeof s->config, "%s/config.ini", s->directory);
    snprintf(s->home, sizeof s->home, "%s/home", s->directory);
    snprintf(s->xdg, sizeof s->xdg, "%s/xdg", s->directory);
    const char *const folders[] = {"home", "home/.config", "home/.config/hspz", "xdg", "xdg/hspz"};
    for (size_t i = 0; i < 5; i++) {
        snprintf(path, sizeof path, "%s/%s", s->directory, folders[i]);
        cr_assert(mkdir(path, 0700) == 0);
    }
    put(s->system,
        "[extension]\nxdrop = 1\nhspthresh = 1\n[seeding]\nstep = 1\nwga_chunk_size = 1\nMAX_HITS = 1\n");
    snprintf(path, sizeof path, "%s/home/.config/hspz/hspz.ini", s->directory);
    put(path, "[extension]\nxdrop = 2\nhspthresh = 2\n[seeding]\nstep = 2\nwga_chunk_size = 2\n");
    snprintf(path, sizeof path, "%s/xdg/hspz/hspz.ini", s->directory);
    put(path, "[extension]\nxdrop = 22\n");
    put(s->config, "; of this run\n[extension]\nxdrop = 3\nhspthresh = 3\n[seeding]\nstep = 3\n");
}

static int source_of(const hspz_options *options, const char *name)
{
    return options->origin[hspz__option_index(hspz__option_find(name))].source;
}

Test(options_precedence, each_source_over_those_before)
{
    sources s;
    hspz_options o;
    char line[1024], environment[2048];
    make_sources(&s);
    snprintf(line, sizeof line, "align|a|b|-o|x|--config|%s|--xdrop|5", s.config);
    snprintf(environment, sizeof environment, "HSPZ_SYSTEM_CONFIG=%s|HOME=%s|HSPZ_XDROP=4|HSPZ_HSPTHRESH=4",
             s.system, s.home);
    load_or_fail(&o, line, environment);
    cr_expect(o.xdrop == 5 && source_of(&o, "xdrop") == HSPZ_ORIGIN_COMMAND_LINE);
    cr_expect(o.hspthresh == 4 && source_of(&o, "hspthresh") == HSPZ_ORIGIN_ENVIRONMENT);
    cr_expect(o.step == 3 && source_of(&o, "step") == HSPZ_ORIGIN_CONFIG);
    cr_expect(o.wga_chunk_size == 2 && source_of(&o, "wga_chunk_size") == HSPZ_ORIGIN_USER);
    cr_expect(o.max_hits == 1 && source_of(&o, "MAX_HITS") == HSPZ_ORIGIN_SYSTEM);
    cr_expect(o.ydrop == 9430 && source_of(&o, "ydrop") == HSPZ_ORIGIN_DEFAULT);
    cr_expect(o.origin[hspz__option_index(hspz__option_find("step"))].line == 6, "the line is remembered");
    cr_expect(strcmp(o.source_file[HSPZ_ORIGIN_CONFIG], s.config) == 0);
}

Test(options_precedence, where_the_user_file_lies)
{
    sources s;
    hspz_options o;
    char environment[1024];
    make_sources(&s);
    snprintf(environment, sizeof environment, "HOME=%s|XDG_CONFIG_HOME=%s", s.home, s.xdg);
    load_or_fail(&o, "align|a|b|-o|x", environment);
    cr_expect(o.xdrop == 22 && o.hspthresh == 3000, "XDG_CONFIG_HOME comes before HOME");
    snprintf(environment, sizeof environment, "HOME=%s|XDG_CONFIG_HOME=relative", s.home);
    load_or_fail(&o, "align|a|b|-o|x", environment);
    cr_expect(o.xdrop == 2, "a relative XDG_CONFIG_HOME is to be ignored");
    snprintf(environment, sizeof environment, "HOME=%s/nothing/here", s.home);
    load_or_fail(&o, "align|a|b|-o|x", environment);
    cr_expect(o.xdrop == 910, "a missing user file is no error");
    load_or_fail(&o, "align|a|b|-o|x", NULL);
    cr_expect(o.xdrop == 910);
}

Test(options_precedence, the_config_file_by_environment)
{
    sources s;
    hspz_options o;
    char environment[1024], line[1024];
    make_sources(&s);
    snprintf(environment, sizeof environment, "HSPZ_CONFIG=%s", s.config);
    load_or_fail(&o, "align|a|b|-o|x", environment);
    cr_expect(o.xdrop == 3 && source_of(&o, "xdrop") == HSPZ_ORIGIN_CONFIG);
    snprintf(line, sizeof line, "align|a|b|-o|x|--config=%s", s.system);
    load_or_fail(&o, line, environment);
    cr_expect(o.xdrop == 1 && o.max_hits == 1, "--config comes before HSPZ_CONFIG");
}

Test(options_precedence, an_unreadable_user_file_is_told)
{
    sources s;
    hspz_options o;
    hspz_failure failure;
    char path[600], environment[1024];
    make_sources(&s);
    snprintf(path, sizeof path, "%s/hspz/hspz.ini", s.xdg);
    cr_assert(unlink(path) == 0 && mkdir(path, 0700) == 0);
    snprintf(environment, sizeof environment, "XDG_CONFIG_HOME=%s", s.xdg);
    cr_expect(load_line(&o, "align|a|b|-o|x", environment, &failure) == HSPZ_EXIT_USAGE);
    cr_expect(strstr(failure.text, path) != NULL && strstr(failure.text, "directory") != NULL, "%s",
              failure.text);
}

Test(options_precedence, variables_of_tests_are_no_settings)
{
    hspz_options o;
    load_or_fail(&o, "align|a|b|-o|x",
                 "HSPZ_BUILD=b|HSPZ_DATA=d|HSPZ_TEST_SEED=3|HSPZ_BENCH_X=1|PATH=/bin|MAX_HITSS=3|odd");
    cr_expect(o.xdrop == 910);
    load_or_fail(&o, "align|a|b|-o|x", "MAX_HITS=5|HSPZ_MAX_HITS=5");
    cr_expect(o.max_hits == 5, "two variables that agree are no contradiction");
}
