# hspz_oracle.so: the reference plugin. Shares nothing with the fast plugin but the ABI header.
oracle_sources := $(wildcard plugin/oracle/*.c)
oracle_objects := $(oracle_sources:%.c=$(BUILD)/%.o)
products += $(BUILD)/hspz_oracle.so

$(BUILD)/hspz_oracle.so: $(oracle_objects) plugin/oracle/exports.map
	$(CC) -shared $(LDFLAGS) -Wl,--version-script=plugin/oracle/exports.map $(if $(sanitize),,-Wl,-z,defs) \
	    -o $@ $(oracle_objects) -lm -lpthread
